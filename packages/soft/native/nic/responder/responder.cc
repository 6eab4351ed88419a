#include "nic/responder/responder.h"

#include "nic/responder/atomic.h"
#include "nic/responder/flush.h"
#include "nic/responder/message.h"
#include "nic/responder/read.h"
#include "nic/responder/replay.h"
#include "nic/responder/response.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

// A packet that was executed before: its answer was lost, or it was doubled on the way.
void take_duplicate(Core& core, Qp& qp, const Request& request) {
  ++core.counters.duplicate_request;
  if (request.has(wire::kIsRead)) return repeat_read(core, qp, request);
  if (!request.has(wire::kIsSend | wire::kIsWrite)) return repeat_once(core, qp, request);
  acknowledge(core, qp, psn_add(qp.resp.expected_psn, kPsnMask));
}

// The requests of one packet that are answered by more than an acknowledgement.
void take_single(Core& core, Qp& qp, const Request& request) {
  if (request.has(wire::kIsRead)) return take_read(core, qp, request);
  if (request.has(wire::kIsAtomic)) return take_atomic(core, qp, request);
  if (wire::operation_of(request.bth.opcode) == wire::kFlush) return take_flush(core, qp, request);
  take_atomic_write(core, qp, request);
}

// UC: a packet that is not the next one ends the message in progress, and nothing counts until a message begins anew
// (IBTA 9.8.2.2).
void take_unreliable(Core& core, Qp& qp, const Request& request) {
  ResponderState& resp = qp.resp;
  const bool next = request.bth.psn == resp.expected_psn && in_order(resp, request.info);
  resp.expected_psn = request.bth.psn;
  if (!next) {
    if (resp.message != ResponderState::Message::kNone || !request.has(wire::kIsStart)) {
      abandon(core, qp, IBV_WC_REM_ABORT_ERR);
    }
    if (!request.has(wire::kIsStart)) return;
  }
  if (!length_fits(qp, request)) return abandon(core, qp, IBV_WC_REM_INV_REQ_ERR);
  if (request.has(wire::kIsSend)) return take_send(core, qp, request);
  take_write(core, qp, request);
}

void take_connected(Core& core, Qp& qp, const Request& request) {
  ResponderState& resp = qp.resp;
  if (!resp.communication_established && qp.state == IBV_QPS_RTR) {
    core.events.async({IBV_EVENT_COMM_EST, &qp, nullptr, qp.attr.port_num});
  }
  resp.communication_established = true;
  if (!qp.is_reliable()) return take_unreliable(core, qp, request);

  const std::int32_t ahead = psn_diff(request.bth.psn, resp.expected_psn);
  if (ahead < 0) return take_duplicate(core, qp, request);
  if (ahead > 0) {
    // PSNs that begin anew mean that the requester repeats and that the repetition was lost as well: waiting for its
    // timeout would cost it a thousand round trips.
    const bool again = resp.nak_sent && !psn_before(resp.last_ahead_psn, request.bth.psn);
    resp.last_ahead_psn = request.bth.psn;
    if (resp.nak_sent && !again) return;
    return out_of_sequence(core, qp);
  }
  resp.nak_sent = false;
  if (qp.type == IBV_QPT_XRC_RECV && qp.srq == nullptr) return refuse_invalid(core, qp);
  if (!in_order(resp, request.info)) return refuse_invalid(core, qp);
  if (!request.has(wire::kIsSend | wire::kIsWrite)) return take_single(core, qp, request);
  if (!length_fits(qp, request)) return refuse_invalid(core, qp);
  if (request.has(wire::kIsSend)) return take_send(core, qp, request);
  take_write(core, qp, request);
}

// XRC: a request names the shared queue that it is about, and is taken with that queue's PD.
void take_xrc(Core& core, Qp& qp, const Request& request) {
  Srq* named = core.srqs.find(wire::Xrceth::parse(request.header(request.info.xrceth)).srqn);
  qp.srq = named != nullptr && named->xrcd == qp.xrcd ? named : nullptr;
  qp.remote_pd = qp.srq != nullptr ? qp.srq->pd : nullptr;
  take_connected(core, qp, request);
  qp.srq = nullptr;
}

}  // namespace

void take_request(Core& core, Qp& qp, const Request& request) {
  if (qp.type == IBV_QPT_XRC_RECV) {
    take_xrc(core, qp, request);
  } else {
    take_connected(core, qp, request);
  }
}

}  // namespace verbs::soft::nic
