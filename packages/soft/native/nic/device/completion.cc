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

}  // namespace

void complete_send(Core& core, Qp& qp, ibv_wc_status status) {
  const SendWqe& wqe = qp.sq.at(qp.sq.head++);
  if (qp.counters != nullptr) [[unlikely]]
    count_send(qp, wqe, status);
  if (status == IBV_WC_SUCCESS) {
    if (info_of(wqe.opcode).has_own_response()) --qp.req.unanswered_requests;
    if (!qp.signals(wqe)) return;
  }
  qp.send_cq->add(false, core.events, {}, [&](ibv_wc& wc) {
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
  qp.recv = {};
  ++core.counters.rdma_recvs;
  qp.count(CompletionCounter::kRecv, status, received.byte_len);
  if (srq == nullptr || srq->cq == nullptr) {
    return qp.recv_cq->add(received.solicited, core.events, received.tags, fill);
  }
  if (srq->cq->add(received.solicited, core.events, received.tags, fill)) return true;
  // The CQ of the shared queue has overrun, so no QP can use the queue.
  if (!srq->failed) core.events.async({.type = IBV_EVENT_SRQ_ERR, .srq = srq});
  srq->failed = true;
  return false;
}

}  // namespace verbs::soft::nic
