// How a queue pair fails: the error state, the send queue error state, and the flush of what is posted.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Puts a QP into the error state and completes everything in its queues as flushed, in order. Queued responses are
// still sent.
void enter_error(Core& core, Qp& qp);
// The same with an asynchronous event: IBV_EVENT_QP_FATAL, _REQ_ERR or _ACCESS_ERR.
void enter_error(Core& core, Qp& qp, ibv_event_type event);

// Fails the oldest send request. A reliable QP goes to the error state. Any other goes to SQE and receives on until the
// application moves it back to RTS (IBTA 10.3.1.6).
void fail_send(Core& core, Qp& qp, ibv_wc_status status);

// Before the application gets the memory of unanswered requests back: a peer that still has references to it does not
// use what it reads there.
void revoke_references(Core& core, Qp& qp);
// The same for READ responses, too: the QP answers no more.
void revoke_all_references(Core& core, Qp& qp);

// Completes what is posted as flushed.
void flush_sends(Core& core, Qp& qp);
void flush_receives(Core& core, Qp& qp);

}  // namespace verbs::soft::nic
