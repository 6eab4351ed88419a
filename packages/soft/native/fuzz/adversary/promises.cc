#include "fuzz/adversary/promises.h"

#include <algorithm>
#include <cstring>

#include "fuzz/check.h"

namespace verbs::soft::fuzz {
namespace {

// How many completions at the beginning have success; the others are one error at most, and flushed requests.
std::size_t check_sequence(const std::vector<ibv_wc>& all) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    FUZZ_CHECK(all[i].wr_id == i);
    if (all[i].status == IBV_WC_SUCCESS) FUZZ_CHECK(done++ == i);
    if (i > done) FUZZ_CHECK(all[i].status == IBV_WC_WR_FLUSH_ERR);
  }
  return done;
}

std::size_t successes(const std::vector<ibv_wc>& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const ibv_wc& wc) { return wc.status == IBV_WC_SUCCESS; }));
}

// Whether a completed receive is that message, whole.
bool is_message(Station& from, Station& to, const ibv_wc& wc, std::size_t i, std::uint32_t headers) {
  const Message& message = from.messages[i];
  if (wc.byte_len != message.size + headers) return false;
  const bool immediate = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
  if (immediate != message.has_imm() || (immediate && wc.imm_data != message.imm)) return false;
  if ((wc.opcode == IBV_WC_RECV) != message.is_send()) return false;
  const std::uint8_t* arrived =
      message.is_send() ? to.board.slot(kReceive, wc.wr_id) + headers : to.board.slot(kTarget, i);
  return std::memcmp(arrived, from.board.slot(kSource, i), message.size) == 0;
}

// What an ended request left behind, or one that may have been executed in part.
void check_effect(Station& from, Station& to, std::size_t i, bool done) {
  const Message& message = from.messages[i];
  if (message.opcode == IBV_WR_RDMA_READ) {
    from.board.check_part(kResult, i, to.board.slot(kSource, i), message.size);
    if (done) FUZZ_CHECK(std::memcmp(from.board.slot(kResult, i), to.board.slot(kSource, i), message.size) == 0);
  } else if (message.is_write()) {
    to.board.check_part(kTarget, i, from.board.slot(kSource, i), message.size);
    if (done) FUZZ_CHECK(std::memcmp(to.board.slot(kTarget, i), from.board.slot(kSource, i), message.size) == 0);
  }
}

// Completed atomics returned what the earlier ones left; of the others at most a row behind them was executed, once.
void check_atomics(Station& from, Station& to, std::size_t done) {
  std::uint64_t left[2] = {};
  bool found[2] = {};
  for (std::size_t i = 0; i <= from.posted; ++i) {
    for (std::size_t word = 0; word < 2; ++word) found[word] |= i >= done && to.board.words[word] == left[word];
    if (i == from.posted) break;
    const Message& message = from.messages[i];
    if (!message.is_atomic()) continue;
    const bool add = message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    std::uint64_t& value = left[add ? 0 : 1];
    std::uint64_t original = 0;
    std::memcpy(&original, from.board.slot(kResult, i), sizeof original);
    if (i < done) FUZZ_CHECK(original == value);
    if (add) {
      value += message.operand;
    } else if (value == message.operand) {
      ++value;
    }
  }
  FUZZ_CHECK(found[0] && found[1]);
}

}  // namespace

void check_order(Station& station, ibv_qp_type type) {
  const std::size_t sent = check_sequence(station.sent);
  check_sequence(station.received);
  // All requests end, and those of an unreliable queue pair end well: nobody acknowledges them.
  FUZZ_CHECK(station.sent.size() == station.posted);
  FUZZ_CHECK(type != IBV_QPT_UD || sent == station.posted);
  station.board.check_sources();
  station.board.check_borders(kResult);
  station.board.check_borders(kReceive);
}

void check_reliable(Station& from, Station& to) {
  const std::size_t done = successes(from.sent);
  std::size_t next = 0;
  const auto skip = [&] {
    while (next < from.posted && !from.messages[next].is_received()) ++next;
  };
  for (const ibv_wc& wc : to.received) {
    if (wc.status != IBV_WC_SUCCESS) break;
    skip();
    FUZZ_CHECK(next < from.posted && is_message(from, to, wc, next, 0));
    ++next;
  }
  skip();
  FUZZ_CHECK(next >= done);
  for (std::size_t i = 0; i < from.posted; ++i) check_effect(from, to, i, i < done);
  check_atomics(from, to, done);
  to.board.check_borders(kTarget);
}

void check_unreliable(Station& from, Station& to, bool datagrams) {
  const std::uint32_t headers = datagrams ? Station::kGrh : 0;
  for (const ibv_wc& wc : to.received) {
    FUZZ_CHECK(wc.status == IBV_WC_SUCCESS);
    FUZZ_CHECK(!datagrams || wc.src_qp == from.qp()->number);
    bool known = false;
    for (std::size_t i = 0; i < from.posted && !known; ++i) known = is_message(from, to, wc, i, headers);
    FUZZ_CHECK(known);
  }
  FUZZ_CHECK(successes(from.sent) == from.posted);
  for (std::size_t i = 0; i < from.posted; ++i) check_effect(from, to, i, false);
  to.board.check_borders(kTarget);
}

}  // namespace verbs::soft::fuzz
