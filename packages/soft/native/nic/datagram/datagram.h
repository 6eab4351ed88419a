// UD: sends and receives datagrams. They are neither acknowledged nor retransmitted, so that the PSN is all the state.
#pragma once

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

// Sends at most `budget` datagrams of a UD queue. Returns how many requests were handled.
std::size_t send_datagrams(Core& core, Qp& qp, std::size_t budget);

// A datagram for a UD QP. Its network header goes to the first 40 bytes of the buffer.
void receive_datagram(Core& core, Qp& qp, const Packet& packet);

// A datagram to a multicast group: a copy for each member that is on the port.
void receive_group_datagram(Core& core, std::uint8_t port_num, const Packet& packet);

}  // namespace verbs::soft::nic
