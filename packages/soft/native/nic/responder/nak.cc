#include "nic/responder/nak.h"

#include "nic/device/completion.h"
#include "nic/device/qp_error.h"
#include "nic/responder/responses.h"

namespace verbs::soft::nic {
namespace {

ibv_event_type event_of(std::uint8_t syndrome) {
  if (syndrome == wire::kNakRemoteAccess) return IBV_EVENT_QP_ACCESS_ERR;
  return syndrome == wire::kNakInvalidRequest ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_FATAL;
}

}  // namespace

Response make_nak(const Qp& qp, std::uint8_t syndrome, std::uint32_t psn) {
  return {.kind = Response::Kind::kNak, .syndrome = syndrome, .psn = psn, .msn = qp.resp.msn, .last_psn = psn};
}

void nak_fatal(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status) {
  if (!qp.is_reliable()) {
    if (syndrome != wire::kNakRemoteOperational) return drop_message(core, qp, receive_status);
    complete_recv(core, qp, receive_status, {});
    return enter_error(core, qp, IBV_EVENT_QP_FATAL);
  }
  queue_response(core, qp, make_nak(qp, syndrome, qp.resp.expected_psn));
  qp.resp.message = ResponderState::Message::kNone;
  if (qp.recv.wqe != nullptr) complete_recv(core, qp, receive_status, {});
  enter_error(core, qp, event_of(syndrome));
}

void nak_invalid_request(Core& core, Qp& qp) { nak_fatal(core, qp, wire::kNakInvalidRequest, IBV_WC_REM_INV_REQ_ERR); }
void nak_remote_access(Core& core, Qp& qp) { nak_fatal(core, qp, wire::kNakRemoteAccess, IBV_WC_REM_ACCESS_ERR); }

void nak_lost_read(Core& core, Qp& qp, std::uint32_t psn) {
  qp.resp.responses.drop_from(psn);
  queue_response(core, qp, make_nak(qp, wire::kNakRemoteAccess, psn));
  if (qp.state != IBV_QPS_ERR) enter_error(core, qp, IBV_EVENT_QP_ACCESS_ERR);
}

void nak_sequence_error(Core& core, Qp& qp) {
  ++core.counters.out_of_seq_request;
  qp.resp.nak_sent = true;
  queue_response(core, qp, make_nak(qp, wire::kNakPsnSequence, qp.resp.expected_psn));
}

void nak_unread(Core& core, Qp& qp) {
  qp.resp.nak_sent = true;
  qp.resp.last_ahead_psn = qp.resp.expected_psn;
  queue_response(core, qp, make_nak(qp, wire::kNakPsnSequence, qp.resp.expected_psn));
}

void nak_receiver_not_ready(Core& core, Qp& qp) {
  if (!qp.is_reliable()) return drop_message(core, qp, IBV_WC_SUCCESS);
  ++core.counters.send_rnr_err;
  qp.resp.nak_sent = true;
  qp.resp.last_ahead_psn = qp.resp.expected_psn;
  const auto syndrome = static_cast<std::uint8_t>(wire::kRnrNak | qp.attr.min_rnr_timer);
  queue_response(core, qp, make_nak(qp, syndrome, qp.resp.expected_psn));
}

void drop_message(Core& core, Qp& qp, ibv_wc_status receive_status) {
  ++core.counters.dropped_pkts;
  qp.resp.message = ResponderState::Message::kNone;
  if (qp.recv.srq != nullptr) {
    complete_recv(core, qp, receive_status, {});
  } else {
    qp.recv = {};
  }
}

}  // namespace verbs::soft::nic
