// The memory that a NIC among hostile neighbours may use, with canaries around it.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/world.h"

namespace verbs::soft::fuzz {

inline constexpr std::size_t kGuardSize = 4096;
inline constexpr std::uint8_t kCanary = 0xc9;
inline constexpr std::uint8_t kUntouched = 0x37;

// Guard, region, guard, region, …, guard; whole pages each.
struct Arena {
  static constexpr std::size_t kSize = kRegions * (kGuardSize + kRegionSize) + kGuardSize;
  std::uint8_t* bytes;
  std::vector<std::uint8_t> canary = std::vector<std::uint8_t>(kGuardSize, kCanary);
  std::vector<std::uint8_t> untouched = std::vector<std::uint8_t>(kRegionSize, kUntouched);

  Arena()
      : bytes(static_cast<std::uint8_t*>(
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    FUZZ_CHECK(bytes != MAP_FAILED);
    for (std::size_t i = 0; i <= kRegions; ++i) std::memset(guard(i), kCanary, kGuardSize);
    for (std::size_t i = 0; i < kRegions; ++i) std::memset(region(i), kUntouched, kRegionSize);
  }
  std::uint8_t* guard(std::size_t index) const { return bytes + index * (kGuardSize + kRegionSize); }
  std::uint8_t* region(std::size_t index) const { return guard(index) + kGuardSize; }
  bool is_whole(std::size_t index) const { return std::memcmp(guard(index), canary.data(), kGuardSize) == 0; }
};

inline const Arena& arena() {
  static const Arena instance;
  return instance;
}

}  // namespace verbs::soft::fuzz
