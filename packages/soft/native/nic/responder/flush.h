// FLUSH: the requester asks that what it wrote before is visible to all, or survives a power failure.
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"

namespace verbs::soft::nic {

// The request at the expected PSN.
void take_flush(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
