// The GUIDs of the software NIC's devices: locally administered, and different in every process.
#pragma once

#include <cstdint>

namespace verbs::soft::wire {

// From random bits. The lowest 16 bits are left for the devices of the process.
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
