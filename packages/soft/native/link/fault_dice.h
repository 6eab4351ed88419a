// The random decisions of one direction of a fault link.
#pragma once

#include <cstdint>
#include <span>

#include "fault_plan.h"

namespace verbs::soft::link {

struct FaultVerdict {
  bool drop = false;
  bool duplicate = false;
  bool reorder = false;
  Nanos hold = 0;                // delay, jitter and reordering together
  std::size_t size = 0;          // what is left of the frame
  bool truncate = false;         // size is less than it was
  std::size_t corrupt_byte = 0;  // 0: no corruption, since the first byte is never corrupted
  std::uint8_t corrupt_mask = 0;
};

class FaultDice {
 public:
  FaultDice(const FaultPlan& plan, std::uint64_t stream);

  // Always draws eight numbers, in this order: drop, duplicate, reorder, corrupt, place of the corruption, truncate,
  // length of the rest, jitter. So changing one probability does not move the decisions about the others.
  FaultVerdict roll(std::span<const std::uint8_t> frame);

 private:
  std::uint64_t draw();

  FaultPlan plan_;
  std::uint64_t state_;
};

}  // namespace verbs::soft::link
