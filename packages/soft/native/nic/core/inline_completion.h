// How requests complete, inline: each message of a list comes here.
#pragma once

#include "nic/core/completion.h"
#include "nic/core/core.h"
#include "nic/core/explanation.h"
#include "nic/core/rendezvous.h"
#include "nic/core/work_request.h"

namespace verbs::soft::nic {

// What polling the completion of `count` requests gives back, unless they give it back now.
inline Slots slots_of(const Core& core, std::uint32_t* released, std::uint32_t count) {
  const Slots slots{.released = released, .count = count};
  if (core.config.rules.slots_until_polled) [[likely]]
    return slots;
  slots.give_back();
  return {};
}

// For completion counters.
[[gnu::cold]] void count_send(Qp& qp, const SendWqe& wqe, ibv_wc_status status);

// complete_send() (completion.h).
[[gnu::always_inline]] inline void complete_send_here(Core& core, Qp& qp, ibv_wc_status status) {
  SendQueue& sq = qp.sq;
  const SendWqe& wqe = sq.at(sq.head++);
  if (qp.matches_tags) [[unlikely]]
    return complete_rendezvous(core, qp, sq.head - 1, status);
  if (qp.counters != nullptr) [[unlikely]]
    count_send(qp, wqe, status);
  if (status == IBV_WC_SUCCESS) {
    if (info_of(wqe.opcode).has_own_response()) --qp.req.unanswered_requests;
  }
  const bool reports = status != IBV_WC_SUCCESS || qp.signals(wqe);
  // The slot of an unsignaled request comes back with that of the next one that is signaled.
  if (!reports && core.config.rules.slots_until_polled) return;
  const Slots slots = slots_of(core, &sq.released, sq.head - sq.reported);
  sq.reported = sq.head;
  if (!reports) return;
  const bool added = qp.send_cq->add(false, core.events, slots, {}, [&](ibv_wc& wc) {
    wc = {};
    wc.wr_id = wqe.wr_id;
    wc.status = status;
    wc.opcode = info_of(wqe.opcode).completion;
    wc.byte_len = wqe.length;
    wc.qp_num = qp.number;
  });
  if (!added) [[unlikely]]
    explain_overrun(core, qp, *qp.send_cq);
}

// Its CQ has overrun, so no QP can use the queue.
[[gnu::cold]] void fail_shared_queue(Core& core, Srq& srq);

[[gnu::always_inline]] inline bool add_received(Core& core, Qp& qp, Srq* srq, const Slots& slots, std::uint64_t wr_id,
                                                ibv_wc_status status, const Received& received) {
  const auto fill = [&](ibv_wc& wc) {
    wc = {};
    wc.wr_id = wr_id;
    wc.status = status;
    wc.opcode = received.opcode;
    wc.byte_len = received.byte_len;
    wc.imm_data = received.imm_data;
    wc.qp_num = qp.number;
    wc.src_qp = received.src_qp;
    wc.sl = received.sl;
    wc.wc_flags = received.flags;
  };
  if (srq == nullptr || srq->cq == nullptr) {
    if (qp.recv_cq->add(received.solicited, core.events, slots, received.tags, fill)) [[likely]]
      return true;
    explain_overrun(core, qp, *qp.recv_cq);
    return false;
  }
  if (srq->cq->add(received.solicited, core.events, slots, received.tags, fill)) return true;
  explain_overrun(core, qp, *srq->cq);
  fail_shared_queue(core, *srq);
  return false;
}

inline void count_received(Core& core, Qp& qp, ibv_wc_status status, const Received& received) {
  ++core.counters.rdma_recvs;
  qp.count(CompletionCounter::kRecv, status, received.byte_len);
}

// complete_recv_of() (completion.h).
[[gnu::always_inline]] inline bool complete_recv_here(Core& core, Qp& qp, Srq* srq, std::uint64_t wr_id,
                                                      ibv_wc_status status, const Received& received) {
  if (srq == nullptr) ++qp.rq.head;
  const Slots slots = slots_of(core, srq == nullptr ? &qp.rq.released : &srq->queue.released, 1);
  count_received(core, qp, status, received);
  return add_received(core, qp, srq, slots, wr_id, status, received);
}

}  // namespace verbs::soft::nic
