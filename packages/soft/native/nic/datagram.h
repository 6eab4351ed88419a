// UD: sends and receives datagrams. They are neither acknowledged nor retransmitted, so that the PSN is all the state.
#pragma once

#include <cstdint>
#include <span>

#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

// Sends at most `budget` datagrams of a UD queue. Returns how many requests were handled.
std::size_t send_datagrams(Core& core, Qp& qp, std::size_t budget);

// A datagram for a UD QP. Its network header goes to the first 40 bytes of the buffer.
void receive_datagram(Core& core, Qp& qp, const Packet& packet);

// A datagram to a multicast group: a copy for each member that is on the port.
void receive_group_datagram(Core& core, std::uint8_t port_num, const Packet& packet);

// Management datagrams: UD packets from queue pair 1 to queue pair 1, which no program can create.

inline constexpr std::uint32_t kManagementQpn = 1;

// Gives the datagram to the core's sink if its key is that of the general services.
void receive_mad(Core& core, std::uint8_t port_num, const Packet& packet);
// Sends at most 256 bytes. `path` begins at an address of the port.
void send_mad(Core& core, std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes);

}  // namespace verbs::soft::nic
