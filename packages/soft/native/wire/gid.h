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

}  // namespace verbs::soft::wire
