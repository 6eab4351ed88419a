#include "nic/device/completion.h"

#include "nic/device/work_request.h"

namespace verbs::soft::nic {

void complete_send(Core& core, Qp& qp, ibv_wc_status status) {
  const SendWqe& wqe = qp.sq.at(qp.sq.head++);
  if (status == IBV_WC_SUCCESS) {
    if (info_of(wqe.opcode).has_own_response()) --qp.req.unanswered_requests;
    if (!qp.signals(wqe)) return;
  }
  ibv_wc wc = {};
  wc.wr_id = wqe.wr_id;
  wc.status = status;
  wc.opcode = info_of(wqe.opcode).completion;
  wc.byte_len = wqe.length;
  wc.qp_num = qp.number;
  qp.send_cq->push(wc, false, core.events);
}

bool complete_recv(Core& core, Qp& qp, ibv_wc_status status, const Received& received) {
  ibv_wc wc = {};
  wc.wr_id = qp.recv.wqe->wr_id;
  wc.status = status;
  wc.opcode = received.opcode;
  wc.byte_len = received.byte_len;
  wc.imm_data = received.imm_data;
  wc.qp_num = qp.number;
  wc.src_qp = received.src_qp;
  wc.sl = received.sl;
  wc.wc_flags = received.flags;
  Srq* srq = qp.recv.srq;
  if (srq == nullptr) ++qp.rq.head;
  qp.recv = {};
  ++core.counters.rdma_recvs;
  if (srq == nullptr || srq->cq == nullptr) {
    return qp.recv_cq->push(wc, received.solicited, core.events, received.tags);
  }
  if (srq->cq->push(wc, received.solicited, core.events, received.tags)) return true;
  // The CQ of the shared queue has overrun, so no QP can use the queue.
  if (!srq->failed) core.events.async({.type = IBV_EVENT_SRQ_ERR, .srq = srq});
  srq->failed = true;
  return false;
}

}  // namespace verbs::soft::nic
