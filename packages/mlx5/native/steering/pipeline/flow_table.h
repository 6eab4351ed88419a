// A flow table: matchers by priority, and a table for frames that match no rule.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "steering/pipeline/matcher.h"

namespace verbs::mlx5::steering {

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
