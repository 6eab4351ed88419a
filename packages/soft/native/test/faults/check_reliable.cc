#include <cstring>

#include "test/faults/checks.h"

namespace verbs::soft::test::faults {

namespace {

// The number of messages that completed with success; the rest must be the error and the flushed requests.
std::size_t check_sender(const Stream& stream) {
  require(stream.sent.size() == stream.messages.size(),
          number(stream.sent.size()) + " of " + number(stream.messages.size()) + " requests completed: the rest hangs");
  std::size_t done = 0;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const ibv_wc& wc = stream.sent[i];
    require(wc.wr_id == i, "request " + number(wc.wr_id) + " completed as number " + number(i));
    if (done < i) {
      require(wc.status == IBV_WC_WR_FLUSH_ERR, "request " + number(i) + " completed with status " + number(wc.status) +
                                                    " after the queue pair had failed");
    } else if (wc.status == IBV_WC_SUCCESS) {
      ++done;
    } else {
      require(wc.status == IBV_WC_RETRY_EXC_ERR, "request " + number(i) + " ended with status " + number(wc.status));
      require(stream.fault.may_end, "request " + number(i) + " ran out of retries, though little was lost");
    }
  }
  require(!stream.fault.dead || done == 0, number(done) + " requests completed though nothing came back");
  require(stream.qa->state == (done == stream.messages.size() ? IBV_QPS_RTS : IBV_QPS_ERR),
          "the sender's queue pair is in state " + number(stream.qa->state));
  return done;
}

// Every message that uses a receive request arrived once and in order: at least the completed ones.
void check_receiver(Stream& stream, std::size_t done) {
  std::size_t next = 0;
  const auto skip = [&] {
    while (next < stream.messages.size() && !is_received(stream.messages[next].opcode)) ++next;
  };
  for (const ibv_wc& wc : stream.received) {
    skip();
    require(next < stream.messages.size() && wc.wr_id == next,
            "receive request " + number(wc.wr_id) + " completed out of turn, or twice");
    require(wc.status == IBV_WC_SUCCESS, "receive request " + number(next) + ": status " + number(wc.status));
    const Message& message = stream.messages[next];
    require(wc.byte_len == message.size, "receive request " + number(next) + ": " + number(wc.byte_len) + " bytes");
    const unsigned carried = has_imm(message.opcode)                  ? IBV_WC_WITH_IMM
                             : message.opcode == IBV_WR_SEND_WITH_INV ? IBV_WC_WITH_INV
                                                                      : 0;
    require(
        (wc.wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)) == carried && (carried == 0 || wc.imm_data == message.imm),
        "receive request " + number(next) + ": wrong immediate data or invalidated key");
    require(std::memcmp(stream.far_at(next), stream.near_at(next), message.size) == 0,
            "receive request " + number(next) + ": wrong data");
    ++next;
  }
  skip();
  require(next >= done, "request " + number(next) + " was acknowledged, but not received");
}

// Every completed atomic returned the value that the earlier ones left, and none was executed twice.
void check_atomics(Stream& stream, std::size_t done) {
  std::uint64_t sum = 0, swaps = 0;
  bool counter_right = false, turn_right = false;
  for (std::size_t i = 0; i <= stream.messages.size(); ++i) {
    // One that was not acknowledged may have been executed, but only after those before it.
    if (i >= done) {
      counter_right = counter_right || stream.counter == sum;
      turn_right = turn_right || stream.turn == swaps;
    }
    if (i == stream.messages.size()) break;
    const Message& message = stream.messages[i];
    if (!is_atomic(message.opcode)) continue;
    std::uint64_t original = 0;
    std::memcpy(&original, stream.near_at(i), sizeof original);
    const bool add = message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    if (i < done) {
      require(original == (add ? sum : swaps),
              "atomic " + number(i) + " returned " + number(original) + " instead of " + number(add ? sum : swaps));
    }
    (add ? sum : swaps) += add ? message.operand : 1;
  }
  require(counter_right, "the counter is " + number(stream.counter) + ": an addition was lost or done twice");
  require(turn_right, "the swapped value is " + number(stream.turn) + ": a swap was lost or done twice");
}

void check_data(Stream& stream, std::size_t done) {
  for (std::size_t i = 0; i < done; ++i) {
    const Message& message = stream.messages[i];
    if (message.opcode == IBV_WR_RDMA_READ) {
      require(std::memcmp(stream.near_at(i), stream.far_before_at(i), message.size) == 0,
              "read " + number(i) + " brought wrong data");
    } else if (is_write(message.opcode)) {
      require(std::memcmp(stream.far_at(i), stream.near_before_at(i), message.size) == 0,
              "write " + number(i) + " left wrong data");
    }
  }
}

}  // namespace

void check_reliable(Stream& stream) {
  const std::size_t done = check_sender(stream);
  check_receiver(stream, done);
  check_atomics(stream, done);
  check_data(stream, done);
  check_borders(stream);
}

}  // namespace verbs::soft::test::faults
