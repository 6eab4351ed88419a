// Why a frame went nowhere, and how many did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace verbs::mlx5::steering {

enum class DropReason : std::uint8_t {
  kAction,      // a rule says drop
  kMiss,        // no rule took it, on the receive side
  kNoTunnel,    // decapsulation of a frame without a known tunnel
  kNoInnerMac,  // L2 decapsulation of a tunnel that carries no Ethernet frame
  kNoInnerIp,   // L3 decapsulation of a tunnel that carries no IP packet
  kNotIp,       // L3 encapsulation of a frame that is not IP
  kTooLong,     // encapsulated, longer than an IP length field can say
  kMtu,         // encapsulated or tagged, longer than the port's frames may be
  kNoHeadroom,  // the buffer has no room for more headers
  kHopLimit,    // through too many tables: a loop
  kCopyLimit,   // too many copies at a time, or a frame too large to copy
  kCount,
};

inline constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::kCount);
using DropCounters = std::array<std::uint64_t, kDropReasons>;

// A name for statistics: "no_tunnel".
const char* name_of(DropReason reason);

}  // namespace verbs::mlx5::steering
