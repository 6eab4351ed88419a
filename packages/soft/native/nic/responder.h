// The responder: executes request packets of an RC QP in the order of their PSNs.
#pragma once

#include "core.h"
#include "request.h"

namespace verbs::soft::nic {

void take_request(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
