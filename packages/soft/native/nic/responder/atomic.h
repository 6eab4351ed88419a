// Atomic operations and ATOMIC WRITE that come in: requests at the expected PSN.
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"

namespace verbs::soft::nic {

void take_atomic(Core& core, Qp& qp, const Request& request);
void take_atomic_write(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
