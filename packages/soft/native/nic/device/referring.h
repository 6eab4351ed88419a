// Which packets refer to their payload: those of SENDs and WRITEs, and READ responses.
#pragma once

#include <cstddef>

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Payloads are referred to from this size on: below, a copy through the link costs less than the system call.
inline constexpr std::size_t kLeastReferred = 16 << 10;

// Whether such a payload may be referred to, in a request of the QP or in a response: the peer reads this process'
// memory.
inline bool may_refer(Core& core, const Qp& qp, bool request, std::size_t size) {
  return size >= kLeastReferred && qp.is_reliable() && qp.send_tunnel(request) == nullptr &&
         core.port_of(qp).transmitter().takes_references(qp.path.sgid, qp.path.dgid);
}

}  // namespace verbs::soft::nic
