// The responder: executes the request packets of a connected QP. RC and XRC execute them in PSN order and respond; UC
// drops messages that miss a packet.
#pragma once

#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

void handle_request(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
