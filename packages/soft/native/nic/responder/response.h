// What a responder tells its requester, and what it does with a request that it cannot take.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Queues an answer behind those that are owed already. False when there is no room: the requester asks again.
bool answer(Core& core, Qp& qp, const Response& response);

// Acknowledges everything up to and including `psn`.
void acknowledge(Core& core, Qp& qp, std::uint32_t psn);

// Refuses the packet at the expected PSN for good: NAK, an error completion if a receive was taken, QP in error. An
// unreliable QP drops the message instead, unless the fault is its own (the memory of its receive request).
void refuse(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status);
void refuse_invalid(Core& core, Qp& qp);
void refuse_access(Core& core, Qp& qp);

// The packet is ahead of the expected one: asks for what is missing.
void out_of_sequence(Core& core, Qp& qp);

// Forgets the message in progress of an unreliable QP. A receive request of the QP's own queue waits for the next
// message; one from a shared queue cannot be put back and completes with `receive_status`.
void abandon(Core& core, Qp& qp, ibv_wc_status receive_status);

// No receive request is posted: asks for another try after the QP's RNR timer, or drops the message if unreliable.
void not_ready(Core& core, Qp& qp);

// Sends at most `budget` packets of what is owed. Fewer than `budget` means that nothing is owed any more.
std::size_t run_answers(Core& core, Qp& qp, std::size_t budget);

}  // namespace verbs::soft::nic
