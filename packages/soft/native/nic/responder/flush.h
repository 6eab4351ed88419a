// Executes FLUSH: the requester asks that its earlier writes become globally visible, or survive a power failure.
#pragma once

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

// The request at the expected PSN.
void execute_flush(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
