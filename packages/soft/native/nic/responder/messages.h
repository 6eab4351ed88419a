// The message form of a reliable connection within the process: requests are executed at the peer at once, without
// packets, acknowledgements or timers (docs/decisions/0018-messages.md). What it cannot do, packets do.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace verbs::soft::nic
