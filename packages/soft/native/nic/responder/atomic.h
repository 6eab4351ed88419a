// Executes atomic operations and ATOMIC WRITE: the request at the expected PSN.
#pragma once

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

void execute_atomic(Core& core, Qp& qp, const Packet& packet);
void execute_atomic_write(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
