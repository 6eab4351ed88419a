// The requester: turns posted send requests into request packets, as far as window, fence and limits allow.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Sends at most `budget` packets. Returns how many; fewer than `budget` means that nothing more can go now.
std::size_t run_requester(Core& core, Qp& qp, std::size_t budget, Nanos now);

// Goes back to `psn` (not before una_psn): the next packet sent is that one.
void rewind(Qp& qp, std::uint32_t psn);

// After so many the ACK timeout is awaited.
inline constexpr std::uint8_t kMaxProbes = 8;

// An answer is late. Sends the last packet once more: if everything has arrived, the answer comes again; if something
// is missing, the responder says what. A whole window again would only burden a peer that is merely slow.
void probe(Core& core, Qp& qp, Nanos now);

// 4.096 us * 2^timeout (IBTA 9.7.6.1.3); kNever for 0.
Nanos ack_timeout(const Qp& qp);

// Packets are on their way, or some were acknowledged: the ACK timeout runs anew from `now`. Until it has, the timer
// comes early, to probe: an answer that takes much longer than usual was probably lost.
void restart_ack_timer(Core& core, Qp& qp, Nanos now);

}  // namespace verbs::soft::nic
