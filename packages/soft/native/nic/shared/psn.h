// Packet sequence numbers: 24 bits, compared by their signed difference (IBTA 9.7.1).
#pragma once

#include <cstdint>

namespace verbs::soft::nic {

inline constexpr std::uint32_t kPsnMask = 0xffffff;

inline std::uint32_t psn_add(std::uint32_t psn, std::uint32_t count) { return (psn + count) & kPsnMask; }

// Positive when `a` is after `b`; right while they are less than 2^23 apart.
inline std::int32_t psn_diff(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>((a - b) << 8) >> 8; }

inline bool psn_before(std::uint32_t a, std::uint32_t b) { return psn_diff(a, b) < 0; }

}  // namespace verbs::soft::nic
