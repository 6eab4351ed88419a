// Send requests that put nothing on the wire: they change this NIC's own objects, in their turn.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Binds or invalidates a memory window as a request says whose turn has come.
ibv_wc_status run_local(Core& core, Qp& qp, const SendWqe& wqe);

}  // namespace verbs::soft::nic
