// Copies of the payload that a packet refers to.
#pragma once

#include <infiniband/verbs.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nic/device/packet.h"
#include "nic/objects/mr.h"

namespace verbs::soft::nic {

// A pull copies a payload out of the memory of the sender, to which a frame refers (link/reference.h). The pieces of
// `to` have as many bytes as the payload. False for any reason, from a sender that is gone to a region that does not
// allow it: the sender sends the payload itself then, and that way gives the usual errors.
bool pull(std::span<const iovec> to, const ReferredPayload& referred);
// From `offset` of a scatter list on.
bool pull(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
          const ReferredPayload& referred);

}  // namespace verbs::soft::nic
