// A sampler: it copies some frames to its own list of actions, and all frames continue at the next table.
#pragma once

#include <cstdint>
#include <memory>

#include "steering/actions/action.h"

namespace verbs::mlx5::steering {

class Sampler {
 public:
  // Samples one of each `ratio` frames, chosen at random with this seed: the share is exact, and no pattern in the
  // traffic escapes. Ratio 0 means 1: every frame is sampled.
  Sampler(std::uint32_t ratio, std::vector<Action> sample_actions, std::shared_ptr<FlowTable> next,
          std::uint64_t seed = 1);

  // Whether to sample the next frame.
  bool sample();
  const ActionList& actions() const { return actions_; }
  const std::shared_ptr<FlowTable>& next() const { return next_; }

 private:
  std::uint32_t random_position();

  std::uint32_t ratio_;
  std::uint64_t state_;
  std::uint32_t position_ = 0;  // of the next frame in its group of `ratio`
  std::uint32_t chosen_ = 0;    // the position in the group that is sampled
  ActionList actions_;
  std::shared_ptr<FlowTable> next_;
};

}  // namespace verbs::mlx5::steering
