// The responder: executes the request packets of a connected QP. RC takes them in the order of their PSNs and answers;
// UC drops messages that miss a packet.
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"

namespace verbs::soft::nic {

void take_request(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
