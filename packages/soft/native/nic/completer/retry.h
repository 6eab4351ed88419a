// When a requester sends again: after a loss, after a NAK, and after a timeout.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Everything before `una` is acknowledged: retries, probes and timers are reset.
void acknowledge_progress(Core& core, Qp& qp, std::uint32_t una, Nanos now);

// A PSN sequence error NAK or a response after a gap (an implied NAK) shows a loss: retransmits at once. While
// retransmitting, further reports of the same loss are ignored. A report after the whole retransmission means that it
// was lost too, and starts another one within the same ACK timeout.
void handle_loss(Core& core, Qp& qp, Nanos now);

// The peer could not read what packets refer to: sends their payload, from the oldest unacknowledged packet on. No
// retry, since nothing was lost.
void send_payload(Core& core, Qp& qp);
// The other way round: this end could not read what a READ response refers to, and asks for the payload.
void ask_for_payload(Core& core, Qp& qp);

// RNR NAK for `psn`: waits, then sends that packet again.
void handle_rnr_nak(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t timer_code, Nanos now);

}  // namespace verbs::soft::nic
