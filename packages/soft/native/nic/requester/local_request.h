// Local send requests: they put nothing on the wire and change an object of this NIC.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Executes a bind or a local invalidate of a memory window.
ibv_wc_status run_local(Core& core, Qp& qp, const SendWqe& wqe);

}  // namespace verbs::soft::nic
