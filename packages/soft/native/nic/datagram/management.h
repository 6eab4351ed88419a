// Management datagrams: UD packets from queue pair 1 to queue pair 1, which no program can create.
#pragma once

#include <cstdint>
#include <span>

#include "nic/device/core.h"
#include "nic/device/packet.h"

namespace verbs::soft::nic {

inline constexpr std::uint32_t kManagementQpn = 1;

// Gives the datagram to the core's sink if its key is that of the general services.
void receive_mad(Core& core, std::uint8_t port_num, const Packet& packet);
// Sends at most 256 bytes. `path` begins at an address of the port.
void send_mad(Core& core, std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes);

}  // namespace verbs::soft::nic
