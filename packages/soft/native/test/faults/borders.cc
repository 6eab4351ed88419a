#include <algorithm>

#include "test/faults/checks.h"

namespace verbs::soft::test::faults {

namespace {

// Outside the first `window` bytes of each slot's message memory.
void check_side(const std::vector<std::uint8_t>& now, const std::vector<std::uint8_t>& before, std::size_t slot,
                std::size_t begin, std::size_t end, const char* side) {
  const std::size_t first = slot * Stream::kSlot;
  for (std::size_t at = first; at < first + Stream::kSlot; ++at) {
    if ((at >= begin && at < end) || now[at] == before[at]) continue;
    throw Wrong("byte " + std::to_string(at - first) + " of slot " + std::to_string(slot) + " of the " + side +
                " was written, outside the message");
  }
}

}  // namespace

void check_borders(Stream& stream) {
  for (std::size_t i = 0; i < stream.messages.size(); ++i) {
    const ibv_wr_opcode opcode = stream.messages[i].opcode;
    const bool fetches = opcode == IBV_WR_RDMA_READ || is_atomic(opcode);
    const auto near = static_cast<std::size_t>(stream.near_at(i) - stream.near.data());
    const auto far = static_cast<std::size_t>(stream.far_at(i) - stream.far.data());
    check_side(stream.near, stream.near_before, i, near, fetches ? near + stream.messages[i].size : near, "requester");
    // The slot of an unreliable SEND depends on the losses before it.
    const bool anywhere = !reliable(stream.operation) && is_send(opcode);
    const std::size_t room = anywhere ? Stream::kRoom : stream.window(i);
    check_side(stream.far, stream.far_before, i, far, fetches ? far : far + room, "responder");
  }
}

}  // namespace verbs::soft::test::faults
