#include "test/faults/cell.h"

#include <algorithm>

#include "nic/base/limits.h"
#include "test/faults/checks.h"
#include "test/faults/stream.h"

namespace verbs::soft::test::faults {

std::string name_of(const Cell& cell) {
  return std::string(cell.operation->name) + "/" + cell.fault->name + "/" + std::to_string(cell.repetition);
}

Result run_cell(const Cell& cell, std::uint64_t seed) {
  Stream stream(cell, seed);
  stream.run();
  if (reliable(*cell.operation)) {
    check_reliable(stream);
  } else {
    check_unreliable(stream);
  }
  const auto well = [](const ibv_wc& wc) { return wc.status == IBV_WC_SUCCESS; };
  return {.hash = stream.digest.value(),
          .messages = Stream::kMessages,
          .completed = static_cast<int>(std::count_if(stream.sent.begin(), stream.sent.end(), well)),
          .received = static_cast<int>(std::count_if(stream.received.begin(), stream.received.end(), well)),
          .retransmitted = stream.net.a.nic->counters().retransmitted_pkts,
          .nanoseconds = stream.net.now};
}

}  // namespace verbs::soft::test::faults
