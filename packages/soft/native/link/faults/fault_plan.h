// The faults of a link. A plan and its seed determine every decision: the same frames meet the same faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "link/faults/opcode_set.h"
#include "link/link.h"

namespace verbs::soft::link {

enum class FaultDirection { kEgress, kIngress, kBoth };

// The kind of an AETH (the upper bits of its syndrome).
enum class AethKind : std::uint8_t { kAck = 0, kRnrNak = 1, kNak = 3 };

// From `first` to `last`, both included; through the wrap at 2^24 if `last` is the smaller one.
struct PsnRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool has(std::uint32_t psn) const { return ((psn - first) & 0xffffff) <= ((last - first) & 0xffffff); }
};

// Which frames match, which of the matching frames are selected, and what happens to those. Probabilities are from 0 to
// 1 and independent of each other.
struct FaultRule {
  std::string text;  // as the user wrote it

  // A frame matches if it meets all conditions that are given here.
  FaultDirection direction = FaultDirection::kEgress;
  std::optional<OpcodeSet> opcodes;
  std::optional<std::uint32_t> qpn;  // destination
  std::optional<PsnRange> psn;
  std::optional<AethKind> aeth;  // of acknowledgements and read responses

  // Which matching frames are selected, counted from 1: the nth, and then every `every`-th. Without `every`, only the
  // nth, or `count` frames from there on; without both, all.
  std::uint64_t nth = 0;    // 0: not given
  std::uint64_t every = 0;  // 0: not given
  std::uint64_t count = 0;  // the rule applies at most this many times; 0: not given
  double probability = 1;   // of the rule as a whole

  // The faults.
  double drop = 0;       // the frame is lost
  double duplicate = 0;  // the frame is sent twice
  double reorder = 0;    // the frame is delayed by `reorder_delay`, so that later frames overtake it
  double corrupt = 0;    // one bit that the ICRC covers is inverted, behind the IP and UDP headers
  double truncate = 0;   // the end of the frame is cut off, behind the IP and UDP headers
  Nanos delay = 0;       // every frame is delayed by this time
  Nanos jitter = 0;      // and by up to this time more, uniformly distributed
  Nanos reorder_delay = 50'000;
  std::uint64_t bytes_per_second = 0;  // frames leave one after the other at this rate; 0: no limit
  std::uint64_t packets_per_second = 0;

  bool limits_rate() const { return bytes_per_second > 0 || packets_per_second > 0; }
  // Whether the rule may delay a frame, which needs memory.
  bool holds() const { return delay > 0 || jitter > 0 || reorder > 0 || limits_rate(); }
  // Whether the rule has any effect.
  bool acts() const { return drop > 0 || duplicate > 0 || corrupt > 0 || truncate > 0 || holds(); }
};

// Every rule decides about each frame as it arrives, in the order of the plan, and the effects of all rules apply. Each
// rule counts its own matches, including frames that another rule drops, and has its own random numbers. So no rule
// changes the decisions of another. The plan is itself the first rule; a simple plan has no other.
struct FaultPlan : FaultRule {
  std::uint64_t seed = 1;
  // How many frames a direction can delay at once; further frames are dropped and counted as overflow.
  std::size_t capacity = 1024;
  std::vector<FaultRule> rules;  // the rules after the first

  bool acts() const {
    bool any = FaultRule::acts();
    for (const FaultRule& rule : rules) any = any || rule.acts();
    return any;
  }
};

// How many times each fault happened in one direction.
struct FaultCounters {
  std::uint64_t passed = 0;  // frames that the plan did not drop
  std::uint64_t dropped = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t truncated = 0;
  std::uint64_t delayed = 0;   // frames delayed for any reason, including duplicates
  std::uint64_t overflow = 0;  // frames lost because `capacity` frames were delayed already
};

// How many frames matched a rule, and to how many it applied.
struct RuleCounters {
  std::uint64_t matched = 0;
  std::uint64_t hits = 0;
};

}  // namespace verbs::soft::link
