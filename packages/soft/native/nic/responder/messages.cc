#include "nic/responder/messages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "link/neighbour.h"
#include "nic/base/guarded_memory.h"
#include "nic/core/completion.h"
#include "nic/core/inline_completion.h"
#include "nic/core/payload.h"
#include "nic/core/ways.h"
#include "nic/core/work_request.h"
#include "nic/responder/whole.h"
#include "wire/headers.h"

namespace verbs::soft::nic {
namespace {

// Longer messages would keep others from both NICs for too long.
constexpr std::uint32_t kLongest = link::kMostReferred;

// The time in the NIC of a neighbour.
class Visit {
 public:
  Visit(Core& core, link::Neighbour& neighbour)
      : neighbour_(&neighbour == core.config.self ? nullptr : &neighbour),
        core_(neighbour_ != nullptr ? neighbour_->enter() : &core) {}
  ~Visit() {
    if (neighbour_ != nullptr && core_ != nullptr) neighbour_->leave();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  Core* core() const { return core_; }

 private:
  link::Neighbour* neighbour_;  // nullptr: the NIC itself
  Core* core_;
};

// A request and the end that it goes to.
struct OwnMessage {
  Core& core;
  Qp& qp;
  const SendWqe& wqe;
  std::uint32_t position;  // of the request
  Core& to_core;
  Qp& to;
  std::uint32_t packets;  // that it stands for
};

// No packet of the QP is on its way or is to be sent again.
bool is_answered(const Qp& qp) {
  const RequesterState& req = qp.req;
  return req.una_psn == req.max_psn && req.send_psn == req.max_psn && req.next_psn == req.max_psn &&
         req.position == qp.sq.head;
}

// The peer takes the QP's packets for its own, and would answer to it.
bool is_peer_of(Core& to_core, Qp& to, const Qp& qp) {
  return to.type == IBV_QPT_RC && to.attr.dest_qp_num == qp.number && to.path.sgid == qp.path.dgid &&
         to.path.dgid == qp.path.sgid && to.mtu == qp.mtu && expects(to, qp.req.send_psn) &&
         neighbour_of(to_core, to) != nullptr;
}

// Whether a completion needs nothing but its entry: neither a clock nor the thread that fires a timer.
bool is_simple(const Cq& cq, bool timed, bool own) {
  return timed ? own || !cq.is_moderated() : !cq.is_stamped() && !cq.is_moderated();
}

bool overlap(const void* a, std::size_t a_size, const void* b, std::size_t b_size) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first - second + (a_size - 1) < a_size - 1 + b_size;
}

// From lists, or to one. `to`: of one place; nullptr: the receive request of `target`.
[[gnu::noinline]] bool transfer_lists(const OwnMessage& message, const Memory* to, const Target* target) {
  const std::uint32_t size = message.wqe.length;
  SendQueue& sq = message.qp.sq;
  MemoryPieces source, sink;
  if ((message.wqe.flags & IBV_SEND_INLINE) != 0) {
    source.add(sq.inline_data(message.position), size);
  } else if (!locate(message.core.mrs, message.qp.pd, sq.sges(message.position), message.wqe.num_sge, 0, size, 0,
                     &source)) {
    return false;
  }
  if (to != nullptr) {
    sink.add(to->at, size);
  } else if (!locate(message.to_core.mrs, target->pd, target->sges(), target->wqe().num_sge, 0, size,
                     IBV_ACCESS_LOCAL_WRITE, &sink)) {
    return false;
  }
  for (const iovec& a : sink.all()) {
    for (const iovec& b : source.all()) {
      if (overlap(a.iov_base, a.iov_len, b.iov_base, b.iov_len)) return false;
    }
  }
  return copy(sink.all(), source.all());
}

// All of the payload, which is not empty, to one place.
[[gnu::always_inline]] inline bool transfer(const OwnMessage& message, const Memory& to) {
  if (to.at == nullptr) return false;
  const SendWqe& wqe = message.wqe;
  SendQueue& sq = message.qp.sq;
  Memory from;
  if ((wqe.flags & IBV_SEND_INLINE) != 0) {
    from = {sq.inline_data(message.position), true};
  } else if (wqe.num_sge == 1) {
    from = memory_of(message.core, message.qp.pd, *sq.sges(message.position), wqe.length, 0);
    if (from.at == nullptr) return false;
  } else {
    return transfer_lists(message, &to, nullptr);
  }
  return !overlap(to.at, wqe.length, from.at, wqe.length) &&
         guarded_copy(to.at, from.at, wqe.length, to.lasts && from.lasts);
}

// The payload, for its responder (whole.h).
struct OwnPayload {
  const OwnMessage& message;

  [[gnu::always_inline]] bool operator()(const Memory& to) const { return transfer(message, to); }
  bool scatter(const Target& target) const { return transfer_lists(message, nullptr, &target); }
};

// At the peer. False: packets find out why.
bool execute(const OwnMessage& message) {
  const SendWqe& wqe = message.wqe;
  WholeMessage whole{.core = message.to_core,
                     .qp = message.to,
                     .length = wqe.length,
                     .packets = message.packets,
                     .immediate = false,
                     .solicited = (wqe.flags & IBV_SEND_SOLICITED) != 0,
                     .imm_data = wqe.imm_data,
                     .rkey = wqe.rkey,
                     .address = wqe.remote_addr};
  switch (wqe.opcode) {
    case IBV_WR_SEND_WITH_IMM:
      whole.immediate = true;
      [[fallthrough]];
    case IBV_WR_SEND:
      return execute_whole_send(whole, OwnPayload{message});
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      whole.immediate = true;
      [[fallthrough]];
    case IBV_WR_RDMA_WRITE:
      return execute_whole_write(whole, OwnPayload{message});
    default:
      return false;
  }
}

// The headers behind the BTH of the messages that are handed over.
constexpr std::array<std::uint8_t, IBV_WR_SEND_WITH_IMM + 1> kHeaders = [] {
  std::array<std::uint8_t, IBV_WR_SEND_WITH_IMM + 1> sizes{};
  sizes[IBV_WR_SEND_WITH_IMM] = wire::kImmDtSize;
  sizes[IBV_WR_RDMA_WRITE] = wire::Reth::kSize;
  sizes[IBV_WR_RDMA_WRITE_WITH_IMM] = wire::Reth::kSize + wire::kImmDtSize;
  return sizes;
}();

// What a call has handed over, counted as the packets that the messages stand for.
struct Tally {
  std::uint64_t messages = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  // but for the headers that each packet has

  void add(const OwnMessage& message) {
    ++messages;
    packets += message.packets;
    bytes += kHeaders[message.wqe.opcode] + ((std::uint64_t{message.wqe.length} + 3) & ~std::uint64_t{3});
  }

  void count(const Qp& qp, Counters& from, Counters& to) const {
    const std::uint64_t all = bytes + packets * (qp.headers.size() + wire::Bth::kSize + wire::kIcrcSize);
    from.rdma_sends += messages;
    from.sent_pkts += packets;
    from.handed_over_pkts += packets;
    from.sent_bytes += all;
    to.rcvd_pkts += packets;
    to.rcvd_bytes += all;
  }
};

// The request at the requester's position is answered.
void complete(Core& core, Qp& qp, std::uint32_t packets) {
  RequesterState& req = qp.req;
  req.next_psn = req.send_psn = req.max_psn = req.una_psn = psn_add(req.send_psn, packets);
  ++req.position;
  complete_send_here(core, qp, IBV_WC_SUCCESS);
}

std::uint32_t packets_of(const Qp& qp, std::uint32_t length) {
  return length <= qp.mtu ? 1 : static_cast<std::uint32_t>((length + qp.mtu - 1) / qp.mtu);
}

HandOver hand_over_to(Core& core, Qp& qp, Core& to_core, Qp& to, std::size_t budget, Tally* tally) {
  const std::uint32_t longest = std::min(kLongest, core.config.limits.max_msg_size);
  const std::uint32_t& position = qp.req.position;
  for (; position != qp.sq.tail; --budget) {
    if (budget == 0) return HandOver::kBudget;
    const SendWqe& wqe = qp.sq.at(position);
    if (wqe.error != IBV_WC_SUCCESS || wqe.length > longest || !to.may_receive()) return HandOver::kPackets;
    const OwnMessage message{core, qp, wqe, position, to_core, to, packets_of(qp, wqe.length)};
    if (!execute(message)) return HandOver::kPackets;
    tally->add(message);
    complete(core, qp, message.packets);
  }
  return HandOver::kAll;
}

}  // namespace

HandOver hand_over(Core& core, Qp& qp, std::size_t budget, bool timed, std::size_t* count) {
  RequesterState& req = qp.req;
  if (qp.type != IBV_QPT_RC || qp.state != IBV_QPS_RTS) return HandOver::kPackets;
  if (req.position == qp.sq.tail) return HandOver::kAll;
  if (!is_answered(qp)) return HandOver::kPackets;
  link::Neighbour* neighbour = neighbour_of(core, qp);
  if (neighbour == nullptr) return HandOver::kPackets;
  const Visit visit(core, *neighbour);
  if (visit.core() == nullptr || qp.neighbourhood != link::Neighbourhood::version()) return HandOver::kPackets;
  Core& to_core = *visit.core();
  Qp* to = to_core.qps.find(qp.attr.dest_qp_num);
  if (to == nullptr || to == &qp || !is_peer_of(to_core, *to, qp)) return HandOver::kPackets;
  if (!is_simple(*qp.send_cq, timed, true) || !is_simple(*to->recv_cq, timed, &to_core == &core)) {
    return HandOver::kPackets;
  }
  if (timed) to_core.set_time(core.now);
  Tally tally;
  const HandOver result = hand_over_to(core, qp, to_core, *to, budget, &tally);
  tally.count(qp, core.counters, to_core.counters);
  *count += tally.messages;
  return result;
}

}  // namespace verbs::soft::nic
