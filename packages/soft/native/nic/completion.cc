#include "completion.h"

namespace verbs::soft::nic {
namespace {

ibv_wc_opcode completion_opcode(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    default:
      return IBV_WC_SEND;
  }
}

}  // namespace

void complete_send(Core& core, Qp& qp, ibv_wc_status status) {
  const SendWqe& wqe = qp.sq.at(qp.sq.head++);
  if (status == IBV_WC_SUCCESS) {
    if (wqe.opcode == IBV_WR_RDMA_READ) --qp.req.reads_unfinished;
    if (!qp.sq_sig_all && (wqe.flags & IBV_SEND_SIGNALED) == 0) return;
  }
  ibv_wc wc = {};
  wc.wr_id = wqe.wr_id;
  wc.status = status;
  wc.opcode = completion_opcode(wqe.opcode);
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
  wc.wc_flags = received.flags;
  if (!qp.recv.shared) ++qp.rq.head;
  qp.recv = {};
  ++core.counters.rdma_recvs;
  return qp.recv_cq->push(wc, received.solicited, core.events);
}

}  // namespace verbs::soft::nic
