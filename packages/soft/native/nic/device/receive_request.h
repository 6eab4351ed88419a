// Receive requests as the responder sees them. A message dequeues one when it begins and completes it when it ends.
// Meanwhile qp.recv holds it, so that nothing else needs to know whether it came from the QP's own queue or a shared
// one.
#pragma once

#include <cstddef>
#include <span>

#include "nic/device/core.h"

namespace verbs::soft::nic {

// The request that dequeue_recv() would return; nullptr when none is posted.
const RecvWqe* peek_recv(Qp& qp);

// Moves the oldest request to qp.recv. False when none is posted. May raise the limit event of a shared queue.
bool dequeue_recv(Core& core, Qp& qp);

// Writes bytes to the buffers of qp.recv, from `offset` on. False when a region or its memory is gone.
bool write_to_recv(const Core& core, const Qp& qp, std::size_t offset, std::span<const std::uint8_t> bytes);

}  // namespace verbs::soft::nic
