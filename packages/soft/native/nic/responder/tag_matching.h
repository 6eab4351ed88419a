// Messages to a shared receive queue of type TM. Each begins with a header (struct ibv_tmh of rdma-core's
// tag_matching.md): a message with a tag takes the first tagged buffer that matches, any other a receive request.
#pragma once

#include <cstddef>

#include "nic/core/completion.h"
#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

// Finds the place of the message that begins with this packet: qp.recv. The first `*headers` bytes of the packet do not
// go there. False: there is none, or the headers are wrong, and a NAK was sent.
bool match_message(Core& core, Qp& qp, const Packet& packet, std::size_t* headers);

// The first of several packets of a message that a tagged buffer has taken: the match completes at once, the data
// later.
void report_match(Core& core, Qp& qp, const Packet& packet);

// The last packet of a message was executed. What the completion says in any case is in `received`.
void finish_message(Core& core, Qp& qp, const Packet& packet, Received received);

}  // namespace verbs::soft::nic
