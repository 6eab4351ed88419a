// What a fault link does to frames. A plan and its seed decide everything: the same frames meet the same faults.
#pragma once

#include <cstdint>

#include "link.h"

namespace verbs::soft::link {

enum class FaultDirection { kEgress, kIngress, kBoth };

// Probabilities are from 0 to 1 and independent of each other.
struct FaultPlan {
  FaultDirection direction = FaultDirection::kEgress;
  double drop = 0;       // the frame vanishes
  double duplicate = 0;  // the frame goes twice
  double reorder = 0;    // the frame is held for `reorder_delay` longer, so that later ones overtake it
  double corrupt = 0;    // one bit that the ICRC covers is inverted, behind the IP and UDP headers
  double truncate = 0;   // the end of the frame is cut off, behind the IP and UDP headers
  Nanos delay = 0;       // every frame is held for this long
  Nanos jitter = 0;      // and for up to this much longer, evenly distributed
  Nanos reorder_delay = 50'000;
  std::uint64_t seed = 1;
  // How many frames a direction can hold at once; what does not fit is dropped and counted as overflow.
  std::size_t capacity = 1024;

  // Whether a frame can ever have to wait, which is what needs memory.
  bool holds() const { return delay > 0 || jitter > 0 || reorder > 0; }
};

// How often each fault happened in one direction.
struct FaultCounters {
  std::uint64_t passed = 0;  // frames that the plan looked at and did not drop
  std::uint64_t dropped = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t truncated = 0;
  std::uint64_t delayed = 0;   // frames held for any reason, duplicates included
  std::uint64_t overflow = 0;  // frames lost because `capacity` frames were held already
};

}  // namespace verbs::soft::link
