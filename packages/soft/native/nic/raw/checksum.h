// The checksums that a NIC fills in for who sends a raw packet with IBV_SEND_IP_CSUM.
#pragma once

#include <cstdint>
#include <span>

namespace verbs::soft::nic {

// Of the IPv4 header, and of TCP or UDP over IPv4 or IPv6; behind up to two VLAN tags. What the frame does not have, or
// does not have whole, is left alone: fragments keep their transport checksum.
void fill_checksums(std::span<std::uint8_t> frame);

}  // namespace verbs::soft::nic
