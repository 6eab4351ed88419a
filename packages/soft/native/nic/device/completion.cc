#include "nic/device/completion.h"

#include "nic/device/work_request.h"

namespace verbs::soft::nic {

namespace {

void count_send(Qp& qp, const SendWqe& wqe, ibv_wc_status status) {
  switch (info_of(wqe.opcode).completion) {
    case IBV_WC_SEND:
      return qp.count(CompletionCounter::kSend, status, wqe.length);
    case IBV_WC_RDMA_READ:
      return qp.count(CompletionCounter::kRead, status, wqe.length);
    case IBV_WC_RDMA_WRITE:
      return qp.count(CompletionCounter::kWrite, status, wqe.length);
    default:
      return;
  }
}

// What polling the completion of `count` requests gives back, unless they give it back now.
Slots slots_of(const Core& core, std::uint32_t* released, std::uint32_t count) {
  const Slots slots{.released = released, .count = count};
  if (core.config.rules.slots_until_polled) [[likely]]
    return slots;
  slots.give_back();
  return {};
}

}  // namespace

void complete_send(Core& core, Qp& qp, ibv_wc_status status) {
  SendQueue& sq = qp.sq;
  const SendWqe& wqe = sq.at(sq.head++);
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
  qp.send_cq->add(false, core.events, slots, {}, [&](ibv_wc& wc) {
    wc = {};
    wc.wr_id = wqe.wr_id;
    wc.status = status;
    wc.opcode = info_of(wqe.opcode).completion;
    wc.byte_len = wqe.length;
    wc.qp_num = qp.number;
  });
}

bool complete_recv(Core& core, Qp& qp, ibv_wc_status status, const Received& received) {
  const std::uint64_t wr_id = qp.recv.wqe->wr_id;
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
  Srq* srq = qp.recv.srq;
  if (srq == nullptr) ++qp.rq.head;
  const Slots slots = slots_of(core, srq == nullptr ? &qp.rq.released : &srq->queue.released, 1);
  qp.recv = {};
  ++core.counters.rdma_recvs;
  qp.count(CompletionCounter::kRecv, status, received.byte_len);
  if (srq == nullptr || srq->cq == nullptr) {
    return qp.recv_cq->add(received.solicited, core.events, slots, received.tags, fill);
  }
  if (srq->cq->add(received.solicited, core.events, slots, received.tags, fill)) return true;
  // The CQ of the shared queue has overrun, so no QP can use the queue.
  if (!srq->failed) core.events.async({.type = IBV_EVENT_SRQ_ERR, .srq = srq});
  srq->failed = true;
  return false;
}

}  // namespace verbs::soft::nic
