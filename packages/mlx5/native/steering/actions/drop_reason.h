// The reasons for dropping frames, and counters of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace verbs::mlx5::steering {

enum class DropReason : std::uint8_t {
  kAction,      // a drop action
  kMiss,        // a received frame matches no rule
  kNoTunnel,    // decapsulation of a frame without a known tunnel
  kNoInnerMac,  // L2 decapsulation of a tunnel without an inner Ethernet frame
  kNoInnerIp,   // L3 decapsulation of a tunnel without an inner IP packet
  kNotIp,       // L3 encapsulation of a frame that is not IP
  kTooLong,     // encapsulated, too long for an IP length field
  kMtu,         // encapsulated or tagged, longer than the port allows
  kNoHeadroom,  // the buffer has no room for the headers
  kHopLimit,    // passed too many tables: a loop
  kCopyLimit,   // too many copies at once, or too large to copy
  kCount,
};

inline constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::kCount);
using DropCounters = std::array<std::uint64_t, kDropReasons>;

// A name for statistics: "no_tunnel".
const char* name_of(DropReason reason);

// A flow counter. Bulk counters are an array of these; an aliasing shared_ptr to one of them keeps the array.

struct Counter {
  std::uint64_t packets = 0;
  // Of each frame at the counter's place in the order of actions: after decapsulation and VLAN pop, before VLAN push
  // and encapsulation. Without the FCS.
  std::uint64_t bytes = 0;
};

}  // namespace verbs::mlx5::steering
