// Requests of reliable connections that are executed whole, without packets. Within the process they are executed at
// the peer at once, without acknowledgements or timers (docs/decisions/0018-messages.md); between processes, links
// carry them (docs/decisions/0019-messages-between-processes.md). What cannot be done so, packets do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "link/message.h"
#include "nic/core/core.h"

namespace verbs::soft::nic {

enum class HandOver : std::uint8_t {
  kAll,      // nothing is left in the send queue
  kBudget,   // more may be handed over in a later call
  kPackets,  // the next request needs packets, now or always
};

// Hands over what is posted: at most `budget` requests, which `count` gets added. Completes them on both sides.
// `timed`: core.now is the present, not that of an earlier step.
HandOver hand_over(Core& core, Qp& qp, std::size_t budget, bool timed, std::size_t* count);

// Executes a request that a link has carried from another process, whose sender and port are right, and acknowledges it
// if asked. False: nothing has happened but perhaps to the bytes that it is for, and its packet has to be executed.
bool execute_carried(Core& core, Qp& qp, const link::Message& message, std::span<const std::uint8_t> payload);

}  // namespace verbs::soft::nic
