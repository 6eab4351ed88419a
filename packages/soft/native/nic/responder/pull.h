// Copies of the payload that a packet refers to.
#pragma once

#include <sys/uio.h>

#include <span>

#include "nic/device/packet.h"

namespace verbs::soft::nic {

// To `to`, which has as many bytes. Whatever the reason why it fails: the sender sends the payload, and the usual way
// gives the usual errors.
bool pull(std::span<const iovec> to, const ReferredPayload& referred);

}  // namespace verbs::soft::nic
