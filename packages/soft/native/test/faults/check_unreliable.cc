#include <algorithm>
#include <cstring>

#include "test/faults/checks.h"

namespace verbs::soft::test::faults {

namespace {

void check_unreliable_sender(const Stream& stream) {
  require(stream.sent.size() == stream.messages.size(), "not every request completed");
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    require(stream.sent[i].wr_id == i && stream.sent[i].status == IBV_WC_SUCCESS,
            "request " + number(i) + " did not complete with success in its turn");
  }
}

// The first message from `from` on that this completion can be; one past the last if there is none.
std::size_t find_message(Stream& stream, const ibv_wc& wc, std::size_t from) {
  const std::uint32_t grh = stream.operation.type == IBV_QPT_UD ? Stream::kGrh : 0;
  for (std::size_t i = from; i < stream.messages.size(); ++i) {
    const Message& message = stream.messages[i];
    if (wc.byte_len != message.size + grh) continue;
    if (has_imm(message.opcode) && wc.imm_data != message.imm) continue;
    const std::uint8_t* at = is_send(message.opcode) ? stream.far_at(wc.wr_id) + grh : stream.far_at(i);
    if (std::memcmp(at, stream.near_at(i), message.size) == 0) return i;
  }
  return stream.messages.size();
}

// A message of one packet is accepted with any PSN: a doubled packet is received twice, and
// in the order in which it comes.
std::size_t check_receiver(Stream& stream) {
  const std::string plan = stream.fault.plan;
  const auto has = [&](const char* fault) { return plan.find(fault) != std::string::npos; };
  const bool doubles = has("duplicate");
  const bool ordered = !doubles && !has("reorder") && !has("jitter");
  std::vector<int> times(stream.messages.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < stream.received.size(); ++i) {
    const ibv_wc& wc = stream.received[i];
    require(wc.status == IBV_WC_SUCCESS, "a receive ended with status " + number(wc.status));
    require(wc.wr_id == i, "receive request " + number(wc.wr_id) + " completed as number " + number(i));
    const std::size_t found = find_message(stream, wc, ordered ? next : 0);
    require(found < stream.messages.size(), "receive " + number(i) + " is none of the messages that were sent");
    next = found + 1;
    ++times[found];
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    require(times[i] <= 1 || doubles, "message " + number(i) + " was received more than once");
  }
  return stream.received.size();
}

// A write that lost packets may have left some of its bytes, but no other bytes than its own.
void check_writes(Stream& stream, bool all) {
  for (std::size_t i = 0; i < stream.messages.size(); ++i) {
    const Message& message = stream.messages[i];
    if (is_send(message.opcode)) continue;
    for (std::size_t at = 0; at < message.size; ++at) {
      const std::uint8_t byte = stream.far_at(i)[at];
      if (byte == stream.near_before_at(i)[at] || (!all && byte == stream.far_before_at(i)[at])) continue;
      throw Wrong("byte " + number(at) + " of write " + number(i) + " is wrong");
    }
  }
}

}  // namespace

void check_unreliable(Stream& stream) {
  check_unreliable_sender(stream);
  const std::size_t received = check_receiver(stream);
  const bool harmless = *stream.fault.plan == '\0';
  const bool in_time = !stream.late_receives();
  if (harmless && in_time && is_received(stream.messages.front().opcode)) {
    require(received == stream.messages.size(), "messages were lost without a fault");
  }
  require(!stream.fault.dead || received == 0, "messages were received though nothing came through");
  check_writes(stream, harmless && in_time);
  check_borders(stream);
}

}  // namespace verbs::soft::test::faults
