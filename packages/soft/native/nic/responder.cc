#include "responder.h"

#include "answer.h"
#include "inbound.h"
#include "psn.h"
#include "remote_atomic.h"
#include "remote_read.h"

namespace verbs::soft::nic {
namespace {

// A packet that was executed before: its answer was lost, or it was doubled on the way.
void take_duplicate(Core& core, Qp& qp, const Request& request) {
  ++core.counters.duplicate_request;
  if (request.has(wire::kIsRead)) return repeat_read(core, qp, request);
  if (request.has(wire::kIsAtomic)) return repeat_atomic(core, qp, request);
  acknowledge(core, qp, psn_add(qp.resp.expected_psn, kPsnMask));
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

}  // namespace

void take_request(Core& core, Qp& qp, const Request& request) {
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
  if (!in_order(resp, request.info)) return refuse_invalid(core, qp);
  if (request.has(wire::kIsRead)) return take_read(core, qp, request);
  if (request.has(wire::kIsAtomic)) return take_atomic(core, qp, request);
  if (!length_fits(qp, request)) return refuse_invalid(core, qp);
  if (request.has(wire::kIsSend) && !request.has(wire::kHasIeth)) return take_send(core, qp, request);
  if (request.has(wire::kIsWrite)) return take_write(core, qp, request);
  refuse_invalid(core, qp);
}

}  // namespace verbs::soft::nic
