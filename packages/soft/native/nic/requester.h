// The requester: turns posted send requests into request packets, as far as the congestion window, fences and limits
// allow.
#pragma once

#include "nic/core/core.h"

namespace verbs::soft::nic {

// Sends at most `budget` packets and returns how many. Fewer than `budget`: no more can leave now.
std::size_t send_requests(Core& core, Qp& qp, std::size_t budget, Nanos now);

// The next packet to send is the one with `psn`, which is not before una_psn.
void rewind(Qp& qp, std::uint32_t psn);

// This many probes precede the ACK timeout at most.
inline constexpr std::uint8_t kMaxProbes = 8;

// A response is late: sends the last packet again. If the responder has everything, it sends the response again; if
// packets are missing, it sends a NAK. Retransmitting the whole congestion window would only load a peer that is
// merely slow.
void probe(Core& core, Qp& qp, Nanos now);

// 4.096 us * 2^timeout (IBTA 9.7.6.1.3); kNever for 0.
Nanos ack_timeout(const Qp& qp);

// Restarts the ACK timeout from `now`: packets are in flight, or some were acknowledged. The timer fires earlier, for
// probes, when a response takes much longer than the round trips before.
void restart_ack_timer(Core& core, Qp& qp, Nanos now);

}  // namespace verbs::soft::nic
