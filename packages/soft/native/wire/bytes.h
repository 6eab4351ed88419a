// Big-endian loads and stores: the byte order of every field on the wire but the ICRC.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace verbs::soft::wire {

template <typename T>
inline T swap_if_little(T value) {
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

template <typename T>
inline T load_be(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return swap_if_little(value);
}

template <typename T>
inline void store_be(std::uint8_t* at, T value) {
  value = swap_if_little(value);
  std::memcpy(at, &value, sizeof value);
}

inline std::uint32_t load_be24(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) << 16 | static_cast<std::uint32_t>(at[1]) << 8 | at[2];
}

inline void store_be24(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 16);
  at[1] = static_cast<std::uint8_t>(value >> 8);
  at[2] = static_cast<std::uint8_t>(value);
}

}  // namespace verbs::soft::wire
