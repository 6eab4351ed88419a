// The responses of an RC responder: queued while requests are executed, sent when the scheduler serves the QP.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Queues a response behind the unsent ones. False when there is no room: the requester asks again.
bool queue_response(Core& core, Qp& qp, const Response& response);

// Acknowledges every request packet up to and including `psn`.
void queue_ack(Core& core, Qp& qp, std::uint32_t psn);

// Sends at most `budget` response packets and returns how many. Fewer than `budget`: none is left.
std::size_t send_responses(Core& core, Qp& qp, std::size_t budget);

}  // namespace verbs::soft::nic
