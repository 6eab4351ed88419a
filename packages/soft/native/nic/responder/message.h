// Incoming SEND and WRITE messages: each packet is written to memory, and the last one makes the completion.
#pragma once

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

// Whether the packet continues the message in progress, or begins one where none is in progress.
bool continues_message(const ResponderState& resp, const wire::OpcodeInfo& info);

// First and middle packets are exactly MTU long, a last one 1 to MTU, an only one at most MTU.
bool has_valid_length(const Qp& qp, const Packet& packet);

// Execute the packet at the expected PSN.
void execute_send(Core& core, Qp& qp, const Packet& packet);
void execute_write(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
