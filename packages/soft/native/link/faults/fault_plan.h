// The faults of a link. A plan and its seed determine every decision: the same frames meet the same faults.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "link/link.h"

namespace verbs::soft::link {

// Sets of BTH opcodes, by their names in IBTA.

using OpcodeSet = std::bitset<256>;

// Adds the opcodes of `name`: one opcode by its full name ("RC SEND Only"), or all opcodes whose names begin with these
// words ("RC RDMA READ response", "UD"). Case does not matter; blanks, '_' and '-' are equal; the word RDMA may be left
// out. False if no opcode has such a name; then nothing is added.
bool add_opcodes(std::string_view name, OpcodeSet* set);

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

// The fields of a frame that the rules of a fault plan refer to.

struct FrameFields {
  std::size_t network = 0;  // size of the IP and UDP headers; 0 if this is not a packet for a NIC
  std::uint8_t opcode = 0;
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;
  std::optional<AethKind> aeth;
};

FrameFields parse_fields(std::span<const std::uint8_t> frame);

// Whether the frame meets the conditions of `rule`, except for the direction.
bool matches(const FaultRule& rule, const FrameFields& fields);

// The decisions of one rule of a fault plan, in one direction.

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
