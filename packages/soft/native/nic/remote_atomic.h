// Atomic operations that come in.
#pragma once

#include "core.h"
#include "request.h"

namespace verbs::soft::nic {

// The request at the expected PSN.
void take_atomic(Core& core, Qp& qp, const Request& request);

// One that was executed before: answered with the saved result.
void repeat_atomic(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
