// What a fault link does to frames. A plan and its seed decide everything: the same frames meet the same faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "link/faults/opcode_set.h"
#include "link/link.h"

namespace verbs::soft::link {

enum class FaultDirection { kEgress, kIngress, kBoth };

// What an AETH says (the upper bits of its syndrome).
enum class AethKind : std::uint8_t { kAck = 0, kRnrNak = 1, kNak = 3 };

// From `first` to `last`, both included; through the wrap at 2^24 if `last` is the smaller one.
struct PsnRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool has(std::uint32_t psn) const { return ((psn - first) & 0xffffff) <= ((last - first) & 0xffffff); }
};

// Which frames, which of those, and what happens to them. Probabilities are from 0 to 1 and independent of each other.
struct FaultRule {
  std::string text;  // as it was written, for who asks what is in force

  // Which frames match: those of which all that is given here is true.
  FaultDirection direction = FaultDirection::kEgress;
  std::optional<OpcodeSet> opcodes;
  std::optional<std::uint32_t> qpn;  // destination
  std::optional<PsnRange> psn;
  std::optional<AethKind> aeth;  // acknowledgements and read responses have one

  // Which of the frames that match, counted from 1: the nth, and each `every` frames from there on. Without `every`
  // the nth alone, or as many as `count` says; without both all of them.
  std::uint64_t nth = 0;    // 0: not given
  std::uint64_t every = 0;  // 0: not given
  std::uint64_t count = 0;  // how many times something happens at most; 0: not given
  double probability = 1;   // of the rule as a whole

  // What happens.
  double drop = 0;       // the frame vanishes
  double duplicate = 0;  // the frame goes twice
  double reorder = 0;    // the frame is held for `reorder_delay` longer, so that later ones overtake it
  double corrupt = 0;    // one bit that the ICRC covers is inverted, behind the IP and UDP headers
  double truncate = 0;   // the end of the frame is cut off, behind the IP and UDP headers
  Nanos delay = 0;       // every frame is held for this long
  Nanos jitter = 0;      // and for up to this much longer, evenly distributed
  Nanos reorder_delay = 50'000;
  std::uint64_t bytes_per_second = 0;  // frames leave one after the other, no faster than this; 0: no limit
  std::uint64_t packets_per_second = 0;

  bool limits_rate() const { return bytes_per_second > 0 || packets_per_second > 0; }
  // Whether a frame can ever have to wait, which is what needs memory.
  bool holds() const { return delay > 0 || jitter > 0 || reorder > 0 || limits_rate(); }
  // Whether it does anything at all.
  bool acts() const { return drop > 0 || duplicate > 0 || corrupt > 0 || truncate > 0 || holds(); }
};

// All rules look at each frame as it came, in the order of the plan, and what all of them do happens to it. Each counts
// its matches for itself, frames that another rule drops included, and has random numbers of its own: so one rule never
// moves the decisions of another. A plan is itself the first of its rules, which is all that a simple one needs.
struct FaultPlan : FaultRule {
  std::uint64_t seed = 1;
  // How many frames a direction can hold at once; what does not fit is dropped and counted as overflow.
  std::size_t capacity = 1024;
  std::vector<FaultRule> rules;  // those after the first

  bool acts() const {
    bool any = FaultRule::acts();
    for (const FaultRule& rule : rules) any = any || rule.acts();
    return any;
  }
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

// How often a rule found a frame that matches, and how often it did something.
struct RuleCounters {
  std::uint64_t matched = 0;
  std::uint64_t hits = 0;
};

}  // namespace verbs::soft::link
