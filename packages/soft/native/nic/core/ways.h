// How the messages of a reliable connection may leave without packets, while nobody looks at packets.
#pragma once

#include "link/message.h"
#include "link/neighbour.h"
#include "nic/core/core.h"

namespace verbs::soft::nic {

// Fills qp.neighbour and qp.way.
[[gnu::noinline]] void look_for_ways(Core& core, Qp& qp, std::uint64_t version);

inline void update_ways(Core& core, Qp& qp) {
  const std::uint64_t version = link::Neighbourhood::version();
  if (qp.neighbourhood != version) [[unlikely]]
    look_for_ways(core, qp, version);
}

// The peer's NIC in this process (docs/decisions/0018-messages.md).
inline link::Neighbour* neighbour_of(Core& core, Qp& qp) {
  update_ways(core, qp);
  return qp.neighbour.get();
}

// The way to the peer's process (docs/decisions/0019-messages-between-processes.md).
inline link::MessageWay* way_of(Core& core, Qp& qp) {
  update_ways(core, qp);
  return qp.way;
}

}  // namespace verbs::soft::nic
