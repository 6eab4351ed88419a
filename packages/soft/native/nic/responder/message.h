// SEND and WRITE messages that come in: packet by packet into memory, with a completion at the end.
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"

namespace verbs::soft::nic {

// Whether the packet continues or begins what the last one left.
bool in_order(const ResponderState& resp, const wire::OpcodeInfo& info);

// First and middle packets are exactly MTU long, a last one 1 to MTU, an only one at most MTU.
bool length_fits(const Qp& qp, const Request& request);

// The packet at the expected PSN.
void take_send(Core& core, Qp& qp, const Request& request);
void take_write(Core& core, Qp& qp, const Request& request);

// The immediate data of a packet that has some, in network byte order, or the key that it invalidates, in the host's;
// else 0. ibv_wc has them in a union.
__be32 immediate(const Request& request);

}  // namespace verbs::soft::nic
