// Requests that must not be executed twice, whatever is lost: atomics, ATOMIC WRITE and FLUSH. Their results go to the
// replay cache, and a duplicate request gets the cached result (IBTA 9.4.5).
#pragma once

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

// Whether the QP allows such requests with all of `rights` (ibv_qp_attr.qp_access_flags).
bool allows(const Qp& qp, unsigned rights);

// As many responses are queued as the requester may have outstanding. The request is dropped; it comes again.
bool is_out_of_resources(const Qp& qp);

// The request at the expected PSN was executed: caches the result and responds.
void respond_and_cache(Core& core, Qp& qp, const Packet& packet, std::uint64_t original);

// A duplicate request: sends the cached result. Drops a request that is too old to be in the cache.
void replay(Core& core, Qp& qp, const Packet& packet);

}  // namespace verbs::soft::nic
