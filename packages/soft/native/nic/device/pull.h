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

// To `to`, which has as many bytes. Whatever the reason why it fails: the sender sends the payload, and the usual way
// gives the usual errors.
bool pull(std::span<const iovec> to, const ReferredPayload& referred);
// From `offset` of a scatter list on.
bool pull(const MrTable& mrs, const Pd* pd, const ibv_sge* sges, std::uint32_t count, std::size_t offset,
          const ReferredPayload& referred);

}  // namespace verbs::soft::nic
