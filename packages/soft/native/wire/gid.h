// A GID: the 128-bit address of a RoCE v2 port, which is an IPv6 address (an IPv4 one in its mapped form).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>

#include "wire/bytes.h"

namespace verbs::soft::wire {

struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  static Gid from_ipv4(const std::uint8_t* address) {
    Gid gid;
    gid.bytes[10] = gid.bytes[11] = 0xff;
    std::memcpy(&gid.bytes[12], address, 4);
    return gid;
  }

  static Gid from_bytes(const void* raw) {
    Gid gid;
    std::memcpy(gid.bytes.data(), raw, 16);
    return gid;
  }

  // Packets to ::ffff:a.b.c.d are IPv4, all others IPv6.
  bool is_ipv4() const { return load_be<std::uint64_t>(&bytes[0]) == 0 && load_be<std::uint32_t>(&bytes[8]) == 0xffff; }

  // Whether it is the address in an IP header.
  bool is_address(const std::uint8_t* at, bool ipv4) const {
    if (ipv4) return load_be<std::uint32_t>(&bytes[12]) == load_be<std::uint32_t>(at) && is_ipv4();
    return *this == from_bytes(at);
  }

  bool is_multicast() const { return bytes[0] == 0xff || (is_ipv4() && (bytes[12] & 0xf0) == 0xe0); }

  bool is_zero() const { return *this == Gid{}; }
  const std::uint8_t* ipv4() const { return &bytes[12]; }

  auto operator<=>(const Gid&) const = default;
  // Every packet compares GIDs: without a call of memcmp().
  bool operator==(const Gid& other) const {
    return load_be<std::uint64_t>(&bytes[0]) == load_be<std::uint64_t>(&other.bytes[0]) &&
           load_be<std::uint64_t>(&bytes[8]) == load_be<std::uint64_t>(&other.bytes[8]);
  }
};

// The GUIDs of the software NIC: locally administered. That of a device is one for all processes that have it; in the
// connection manager's messages each process has its own.

// From bits that differ. The lowest 16 bits are left for the ports of a device.
inline constexpr std::uint64_t guid_base(std::uint64_t random) {
  constexpr std::uint64_t kLocal = 0x02ull << 56;
  constexpr std::uint64_t kFromMac = 0xfffeull << 24;
  std::uint64_t base = kLocal | (random & 0x00ffffffffff0000ull);
  if ((base & 0xffffull << 24) == kFromMac) base ^= 1ull << 24;
  return base;
}

// Adapters have their vendor's number. The kernel's soft-RoCE makes its GUID of an Ethernet address, with ff:fe inside.
inline constexpr bool is_soft_guid(std::uint64_t guid) { return guid >> 56 == 0x02 && (guid >> 24 & 0xffff) != 0xfffe; }

}  // namespace verbs::soft::wire
