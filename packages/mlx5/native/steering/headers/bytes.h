// Big-endian loads and stores: the byte order of every header field and of the match parameters.
#pragma once

#include <cstdint>
#include <cstring>

namespace verbs::mlx5::steering {

inline std::uint16_t load16(const std::uint8_t* at) {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap16(value);
}

inline std::uint32_t load32(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

inline std::uint64_t load64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

inline std::uint32_t load24(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) << 16 | static_cast<std::uint32_t>(at[1]) << 8 | at[2];
}

inline void store16(std::uint8_t* at, std::uint32_t value) {
  const std::uint16_t swapped = __builtin_bswap16(static_cast<std::uint16_t>(value));
  std::memcpy(at, &swapped, sizeof swapped);
}

inline void store32(std::uint8_t* at, std::uint32_t value) {
  const std::uint32_t swapped = __builtin_bswap32(value);
  std::memcpy(at, &swapped, sizeof swapped);
}

inline void store64(std::uint8_t* at, std::uint64_t value) {
  const std::uint64_t swapped = __builtin_bswap64(value);
  std::memcpy(at, &swapped, sizeof swapped);
}

inline void store24(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 16);
  at[1] = static_cast<std::uint8_t>(value >> 8);
  at[2] = static_cast<std::uint8_t>(value);
}

}  // namespace verbs::mlx5::steering
