// Posting work requests: checks, and a copy into the queue.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// 0, or EINVAL (state, opcode, number of SGEs, inline size, address handle) or ENOMEM (queue full).
int post_send(Core& core, Qp& qp, const ibv_send_wr& wr);
// Posts the bind of a type 1 window (ibv_bind_mw), whose new key is `rkey`.
int post_bind(Core& core, Qp& qp, const ibv_mw_bind& bind, std::uint32_t rkey);
// Checks a receive request and puts it into a queue. EINVAL or ENOMEM.
int enqueue_recv(RecvQueue& queue, const ibv_recv_wr& wr);
int post_recv(Core& core, Qp& qp, const ibv_recv_wr& wr);

}  // namespace verbs::soft::nic
