// The decisions of one rule of a fault plan, in one direction.
#pragma once

#include <cstdint>
#include <span>

#include "link/faults/fault_plan.h"
#include "link/faults/frame_fields.h"

namespace verbs::soft::link {

struct FaultDecision {
  bool hit = false;  // one of the faults below happens
  bool drop = false;
  bool duplicate = false;
  bool reorder = false;
  Nanos hold = 0;                // delay, jitter and reordering together
  std::size_t size = 0;          // the remaining bytes of the frame
  bool truncate = false;         // size is less than the frame's
  std::size_t corrupt_byte = 0;  // 0: none; the first byte is never corrupted
  std::uint8_t corrupt_mask = 0;
};

class FaultDecider {
 public:
  // `place` is the position of the rule in its plan, from 0. Each rule has its own random numbers in each direction.
  FaultDecider(const FaultRule& rule, std::uint64_t seed, std::size_t place, FaultDirection direction);

  // Draws nine numbers for each frame that matches, in this order: drop, duplicate, reorder, corrupt, place of the
  // corruption, truncate, remaining length, jitter, the rule's own probability. So a change of one probability does not
  // change the other decisions.
  FaultDecision decide(std::span<const std::uint8_t> frame, const FrameFields& fields);
  // For a rule that limits the rate: how long a frame that is ready at `ready` waits until it has left the link. Called
  // once for each frame that leaves.
  Nanos wait_for_rate(std::size_t size, Nanos ready);

  const FaultRule& rule() const { return rule_; }
  std::size_t place() const { return place_; }
  const RuleCounters& counters() const { return counters_; }

 private:
  std::uint64_t draw();
  bool is_selected(std::uint64_t index) const;

  FaultRule rule_;
  std::size_t place_;
  std::uint64_t state_;
  RuleCounters counters_;
  Nanos free_at_ = INT64_MIN;  // when the limited link is free again
};

}  // namespace verbs::soft::link
