#include "nic/device/qp_error.h"

#include <utility>

#include "nic/device/completion.h"
#include "nic/device/receive_request.h"

namespace verbs::soft::nic {

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
  core.events.async({event, &qp, nullptr, qp.attr.port_num});
}

void fail_send(Core& core, Qp& qp, ibv_wc_status status) {
  revoke_references(core, qp);
  complete_send(core, qp, status);
  if (qp.is_reliable()) return enter_error(core, qp);
  qp.state = qp.attr.qp_state = IBV_QPS_SQE;
  qp.draining = false;
  flush_sends(core, qp);
  // The rest of a broken UC message takes no PSNs.
  if (qp.type == IBV_QPT_UC) qp.req.next_psn = qp.req.una_psn = qp.req.max_psn = qp.req.send_psn;
}

void flush_sends(Core& core, Qp& qp) {
  while (!qp.sq.empty()) complete_send(core, qp, IBV_WC_WR_FLUSH_ERR);
  qp.req.position = qp.sq.head;
  qp.req.packet = 0;
  qp.req.unanswered_requests = 0;
}

void flush_receives(Core& core, Qp& qp) {
  while (qp.recv.wqe != nullptr || (!qp.rq.empty() && dequeue_recv(core, qp))) {
    complete_recv(core, qp, IBV_WC_WR_FLUSH_ERR, {});
  }
  qp.resp.message = ResponderState::Message::kNone;
}

}  // namespace verbs::soft::nic
