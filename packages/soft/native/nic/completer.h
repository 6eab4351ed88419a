// The completer: handles acknowledgements, NAKs, READ and atomic responses and timeouts. It completes send requests and
// decides about retries.
#pragma once

#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

// An acknowledgement or a response for a reliable QP.
void handle_response(Core& core, Qp& qp, const Packet& packet, Nanos now);

// What an acknowledgement packet with that PSN and syndrome says.
void handle_answer(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t syndrome, Nanos now);

// The QP's timer fired: a probe is due, the ACK timeout expired, or an RNR wait is over.
void handle_timeout(Core& core, Qp& qp, Nanos now);

// The wait that an RNR NAK's timer code stands for (IBTA table 45).
Nanos rnr_wait(std::uint8_t code);

}  // namespace verbs::soft::nic
