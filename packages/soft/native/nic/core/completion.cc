#include "nic/core/completion.h"

#include <utility>

#include "nic/core/inline_completion.h"
#include "nic/core/payload.h"

namespace verbs::soft::nic {
namespace {

// They follow from a failure that is explained: they are counted, and leave the ring to the causes.
void count_flushed(Core& core, std::uint32_t count) {
  core.all_counters.reasons[static_cast<std::size_t>(Reason::kFlushed)] += count;
}

}  // namespace

void complete_send(Core& core, Qp& qp, ibv_wc_status status) { complete_send_here(core, qp, status); }

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

bool complete_recv(Core& core, Qp& qp, ibv_wc_status status, const Received& received) {
  const std::uint64_t wr_id = qp.recv.wqe->wr_id;
  Srq* srq = qp.recv.srq;
  if (qp.recv.opcode == IBV_WC_TM_RECV) [[unlikely]] {
    if (status != IBV_WC_SUCCESS) abandon_unexpected(qp);
    if (std::exchange(qp.recv, {}).tagged) return complete_tagged(core, qp, *srq, wr_id, status, received);
  }
  qp.recv = {};
  return complete_recv_of(core, qp, srq, wr_id, status, received);
}

void abandon_unexpected(Qp& qp) {
  if (qp.recv.opcode == IBV_WC_TM_RECV && !qp.recv.tagged) qp.recv.srq->tags->forget_unexpected();
}

void fail_shared_queue(Core& core, Srq& srq) {
  if (!srq.failed) core.events.async({.type = IBV_EVENT_SRQ_ERR, .srq = &srq});
  srq.failed = true;
}

bool complete_recv_of(Core& core, Qp& qp, Srq* srq, std::uint64_t wr_id, ibv_wc_status status,
                      const Received& received) {
  return complete_recv_here(core, qp, srq, wr_id, status, received);
}

bool complete_tagged(Core& core, Qp& qp, Srq& srq, std::uint64_t wr_id, ibv_wc_status status,
                     const Received& received) {
  count_received(core, qp, status, received);
  return add_received(core, qp, &srq, {}, wr_id, status, received);
}

bool note_match(Core& core, Qp& qp, const Received& received) {
  return add_received(core, qp, qp.recv.srq, {}, qp.recv.wqe->wr_id, IBV_WC_SUCCESS, received);
}

void complete_tag_operation(Core& core, Srq& srq, std::uint64_t wr_id, ibv_wc_status status, ibv_wc_opcode opcode) {
  const bool in_step = srq.tags->in_step();
  ++srq.tags->ops;
  const Slots slots = slots_of(core, &srq.tags->ops_released, 1);
  const bool added = srq.cq->add(false, core.events, slots, {}, [&](ibv_wc& wc) {
    wc = {};
    wc.wr_id = wr_id;
    wc.status = status;
    wc.opcode = opcode;
    wc.wc_flags = in_step ? 0 : IBV_WC_TM_SYNC_REQ;
  });
  if (added) return;
  core.explain({.why = {Reason::kCqOverrun, {static_cast<std::uint64_t>(srq.cq->cqe())}}, .place = Place::kCompletion});
  fail_shared_queue(core, srq);
}

void revoke_references(Core& core, Qp& qp) {
  if (!qp.req.refers) return;
  qp.req.refers = false;
  core.port_of(qp).transmitter().revoke_references();
}

void revoke_all_references(Core& core, Qp& qp) {
  qp.req.refers |= std::exchange(qp.resp.refers, false);
  revoke_references(core, qp);
}

void enter_error(Core& core, Qp& qp) {
  revoke_references(core, qp);
  const bool was_in_error = qp.state == IBV_QPS_ERR;
  qp.state = qp.attr.qp_state = IBV_QPS_ERR;
  qp.draining = false;
  qp.req.waiting_rnr = false;
  core.timers.remove(qp);
  flush_sends(core, qp);
  flush_receives(core, qp);
  // A shared queue is not flushed, so the application learns that this QP dequeues no more requests from it.
  if (qp.uses_srq() && !was_in_error) {
    core.events.async({IBV_EVENT_QP_LAST_WQE_REACHED, &qp, nullptr, qp.attr.port_num});
  }
}

void enter_error(Core& core, Qp& qp, ibv_event_type event) {
  enter_error(core, qp);
  if (qp.is_receive_queue) event = IBV_EVENT_WQ_FATAL;
  core.events.async({event, &qp, nullptr, qp.attr.port_num});
}

void fail_send(Core& core, Qp& qp, ibv_wc_status status) {
  revoke_references(core, qp);
  explain_failed_send(core, qp, status);
  complete_send(core, qp, status);
  if (qp.is_reliable()) return enter_error(core, qp);
  qp.state = qp.attr.qp_state = IBV_QPS_SQE;
  qp.draining = false;
  flush_sends(core, qp);
  // The rest of a broken UC message takes no PSNs.
  if (qp.type == IBV_QPT_UC) qp.req.next_psn = qp.req.una_psn = qp.req.max_psn = qp.req.send_psn;
}

void flush_sends(Core& core, Qp& qp) {
  count_flushed(core, qp.sq.tail - qp.sq.head);
  while (!qp.sq.empty()) complete_send(core, qp, IBV_WC_WR_FLUSH_ERR);
  qp.req.position = qp.sq.head;
  qp.req.packet = 0;
  qp.req.unanswered_requests = 0;
}

void flush_receives(Core& core, Qp& qp) {
  while (qp.recv.wqe != nullptr || (!qp.rq.empty() && dequeue_recv(core, qp))) {
    count_flushed(core, 1);
    complete_recv(core, qp, IBV_WC_WR_FLUSH_ERR, {});
  }
  qp.resp.message = ResponderState::Message::kNone;
}

namespace {

RecvQueue& queue_of(Qp& qp) { return qp.srq != nullptr ? qp.srq->queue : qp.rq; }

}  // namespace

const RecvWqe* peek_recv(Qp& qp) {
  RecvQueue& queue = queue_of(qp);
  return queue.empty() ? nullptr : &queue.at(queue.head);
}

bool dequeue_recv(Core& core, Qp& qp) {
  RecvQueue& queue = queue_of(qp);
  if (queue.empty()) return false;
  if (qp.srq == nullptr) {
    qp.recv = {&queue.at(queue.head), queue.sges(queue.head), qp.pd, nullptr};
    return true;
  }
  qp.srq->dequeue(&qp.srq_wqe, qp.srq_sges.data(), core.events);
  qp.recv = {&qp.srq_wqe, qp.srq_sges.data(), qp.srq->pd, qp.srq};
  return true;
}

bool write_to_recv(const Core& core, const Qp& qp, std::size_t offset, std::span<const std::uint8_t> bytes) {
  const CurrentRecv& recv = qp.recv;
  if (recv.wqe->num_sge == 1 && offset == 0 && bytes.size() <= recv.sges->length && !bytes.empty()) {
    const Mr* mr = core.mrs.find(recv.sges->lkey, recv.pd, IBV_ACCESS_LOCAL_WRITE);
    return mr != nullptr && mr->write(recv.sges->addr, bytes.data(), bytes.size());
  }
  return scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, offset, bytes.data(), bytes.size());
}

}  // namespace verbs::soft::nic
