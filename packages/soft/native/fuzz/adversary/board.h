// The memory of a station: a slot for every message in each of four areas, with untouched bytes around every slot, and
// the words of the atomic operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz/check.h"

namespace verbs::soft::fuzz {

inline constexpr std::size_t kMessages = 10;  // the most that a station sends
inline constexpr std::uint32_t kRoom = 1024;  // for a message: four packets
inline constexpr std::uint32_t kBorder = 64;
inline constexpr std::uint32_t kSlotSize = kRoom + 2 * kBorder;

enum Area : std::size_t {
  kSource,   // what is sent; the peer may read it, nobody writes it
  kTarget,   // the peer may write it
  kResult,   // of reads and atomics; only the own requests write it
  kReceive,  // only received messages write it
  kAreas,
};

class Board {
 public:
  static constexpr std::size_t kAreaSize = kMessages * kSlotSize;
  static constexpr std::uint8_t kBlank = 0x37;

  explicit Board(std::uint8_t station) : bytes_(kAreas * kAreaSize, kBlank), source_(kAreaSize, kBlank) {
    std::uint32_t value = station;
    for (std::size_t i = 0; i < kMessages; ++i) {
      for (std::uint32_t j = 0; j < kRoom; ++j) {
        value = value * 1664525 + 1013904223;
        source_[i * kSlotSize + kBorder + j] = static_cast<std::uint8_t>(value >> 24);
      }
    }
    std::memcpy(area(kSource), source_.data(), kAreaSize);
  }

  // Everything but the sources is blank again.
  void clear() {
    std::memset(area(kTarget), kBlank, (kAreas - kTarget) * kAreaSize);
    words[0] = words[1] = 0;
  }

  std::uint8_t* area(Area which) { return bytes_.data() + which * kAreaSize; }
  std::uint8_t* slot(Area which, std::size_t i) { return area(which) + i * kSlotSize + kBorder; }
  std::uint64_t address(Area which, std::size_t i) { return reinterpret_cast<std::uint64_t>(slot(which, i)); }

  // Nobody wrote the sources, or beside the slots of an area.
  void check_sources() { FUZZ_CHECK(std::memcmp(area(kSource), source_.data(), kAreaSize) == 0); }
  void check_borders(Area which) {
    static const std::vector<std::uint8_t> blank(2 * kBorder, kBlank);
    const std::uint8_t* at = area(which);
    FUZZ_CHECK(std::memcmp(at, blank.data(), kBorder) == 0);
    for (std::size_t i = 1; i < kMessages; ++i) {
      FUZZ_CHECK(std::memcmp(at + i * kSlotSize - kBorder, blank.data(), 2 * kBorder) == 0);
    }
    FUZZ_CHECK(std::memcmp(at + kAreaSize - kBorder, blank.data(), kBorder) == 0);
  }
  // Each byte is still blank, or is that of `wanted`: a message that did not end may have arrived in part. Most pieces
  // are all blank or all wanted, and are compared as a whole: byte by byte takes most of the time of an execution.
  void check_part(Area which, std::size_t i, const std::uint8_t* wanted, std::size_t size) {
    static constexpr std::size_t kPiece = 64;
    static const std::vector<std::uint8_t> blank(kRoom, kBlank);
    const std::uint8_t* at = slot(which, i);
    for (std::size_t begin = 0; begin < size; begin += kPiece) {
      const std::size_t end = std::min(begin + kPiece, size);
      if (std::memcmp(at + begin, wanted + begin, end - begin) == 0) continue;
      if (std::memcmp(at + begin, blank.data(), end - begin) == 0) continue;
      for (std::size_t j = begin; j < end; ++j) FUZZ_CHECK(at[j] == kBlank || at[j] == wanted[j]);
    }
    FUZZ_CHECK(std::memcmp(at + size, blank.data(), kRoom - size) == 0);
  }

  // Of fetch-and-add, and of compare-and-swap.
  alignas(8) std::uint64_t words[2] = {};

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> source_;
};

}  // namespace verbs::soft::fuzz
