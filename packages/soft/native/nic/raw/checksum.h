// The checksums that a NIC fills in when a raw packet is sent with IBV_SEND_IP_CSUM.
#pragma once

#include <cstdint>
#include <span>

namespace verbs::soft::nic {

// Fills the checksums of the IPv4 header and of TCP or UDP over IPv4 or IPv6, behind up to two VLAN tags. A header that
// is absent or cut off is left alone, and fragments keep their transport checksum.
void fill_checksums(std::span<std::uint8_t> frame);

}  // namespace verbs::soft::nic
