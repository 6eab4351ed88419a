// The generations of devices that the model follows, and their limits.
#pragma once

#include <cstdint>

namespace verbs::hbl::model {

// kGaudi has everything that the manual pages describe, and the ordinary verbs as an extension of ours. kGaudi2 accepts
// exactly what the kernel driver of that generation accepts.
enum class Profile : std::uint8_t { kGaudi, kGaudi2 };

inline constexpr std::uint32_t kFifosPerPort = 30;
inline constexpr std::uint32_t kCqsPerPort = 14;
inline constexpr std::uint32_t kEncapsPerPort = 8;  // of a gaudi
inline constexpr std::uint32_t kCqeSize = 16;       // bytes
inline constexpr std::uint32_t kMaxCqes = 8192;

}  // namespace verbs::hbl::model
