// Executes READ requests: the response is queued, and leaves packet by packet (responses.h).
#pragma once

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

// The longest RDMA message.
inline constexpr std::uint32_t kMaxRdmaLength = 1u << 31;

// The request at the expected PSN.
void execute_read(Core& core, Qp& qp, const Packet& packet);

// A duplicate of a READ request, or of a part of one.
void execute_read_again(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
