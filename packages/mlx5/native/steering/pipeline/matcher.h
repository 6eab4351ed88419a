// A matcher: a mask over the match parameters, and its rules in a hash table by the masked bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "steering/actions/action.h"
#include "steering/packet/match_key.h"

namespace verbs::mlx5::steering {

class Matcher;

// A value under a matcher's mask, and the actions for packets that have it.
class Rule {
 public:
  const Matcher& matcher() const { return *matcher_; }
  const ActionList& actions() const { return actions_; }
  // Replaces the actions; not from within a Sink.
  void set_actions(ActionList actions) { actions_ = std::move(actions); }
  std::uint64_t hits() const { return hits_; }

 private:
  friend class Matcher;
  friend class Pipeline;
  Matcher* matcher_ = nullptr;
  std::vector<std::uint64_t> words_;  // masked
  std::uint32_t hash_ = 0;
  Rule* shadowed_ = nullptr;  // the next rule with the same words: becomes active when this one is removed
  mutable std::uint64_t hits_ = 0;
  ActionList actions_;
};

class Matcher {
 public:
  // Uses at most kMatchSize bytes of the mask; missing bytes are 0.
  Matcher(std::uint32_t priority, std::span<const std::uint8_t> mask);
  ~Matcher();
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  std::uint32_t priority() const { return priority_; }
  std::span<const std::uint8_t, kMatchSize> mask() const { return mask_; }
  bool has_mask(std::span<const std::uint8_t> mask) const;
  std::size_t rules() const { return count_; }

  // Whether the value has a bit outside of the mask. The kernel rejects such a rule; the matcher ignores the bit.
  bool is_outside_mask(std::span<const std::uint8_t> value) const;
  // The active rule with this value; nullptr if there is none.
  Rule* find(std::span<const std::uint8_t> value) const;
  // A rule with the value of an older rule stays inactive until the older one is removed.
  Rule& add(std::span<const std::uint8_t> value, ActionList actions);
  void remove(Rule& rule);

  const Rule* look_up(Packet& packet, const GeneveOption& option) const;

 private:
  struct Word {
    std::uint32_t offset;
    std::uint64_t mask;
  };
  std::vector<std::uint64_t> masked(std::span<const std::uint8_t> value) const;
  static std::uint32_t hash_of(const std::uint64_t* words, std::size_t count);
  std::size_t slot_of(const std::uint64_t* words,
                      std::uint32_t hash) const;  // the rule's slot, or the free slot for it
  void grow();
  void close_gap(std::size_t slot);

  std::uint32_t priority_;
  std::uint8_t mask_[kMatchSize] = {};
  std::vector<Word> words_;
  SectionMask sections_ = 0;
  std::vector<Rule*> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;      // slots
  std::size_t count_ = 0;     // rules, including inactive ones
};

// A flow table: matchers by priority, and a table for frames that match no rule.

class FlowTable {
 public:
  explicit FlowTable(std::uint32_t level = 0) : level_(level) {}

  std::uint32_t level() const { return level_; }
  std::size_t matchers() const { return matchers_.size(); }
  std::size_t rules() const;

  // Lower numbers match first; with equal priority the older matcher.
  Matcher& add_matcher(std::uint32_t priority, std::span<const std::uint8_t> mask);
  // The first matcher with this priority and mask; nullptr if there is none.
  Matcher* find_matcher(std::uint32_t priority, std::span<const std::uint8_t> mask) const;
  // Also removes its rules.
  void remove_matcher(Matcher& matcher);

  // The next table for a frame that matches no rule; nullptr: the domain's miss.
  const std::shared_ptr<FlowTable>& miss_table() const { return miss_table_; }
  void set_miss_table(std::shared_ptr<FlowTable> table) { miss_table_ = std::move(table); }

  const Rule* look_up(Packet& packet, const GeneveOption& option) const;

 private:
  std::uint32_t level_;
  std::vector<std::unique_ptr<Matcher>> matchers_;  // by priority
  std::shared_ptr<FlowTable> miss_table_;
};

}  // namespace verbs::mlx5::steering
