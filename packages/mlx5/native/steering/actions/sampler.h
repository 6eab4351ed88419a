// A sampler: some frames are copied to a list of actions of their own, all go on to the next table.
#pragma once

#include <cstdint>
#include <memory>

#include "steering/actions/action.h"

namespace verbs::mlx5::steering {

class Sampler {
 public:
  // Of each `ratio` frames one is sampled, which of them is random by this seed: so that the share is exact, and no
  // pattern in the traffic escapes. A ratio of 0 is taken as 1, which samples each frame.
  Sampler(std::uint32_t ratio, std::vector<Action> sample_actions, std::shared_ptr<FlowTable> next,
          std::uint64_t seed = 1);

  // Decides for the next frame.
  bool take();
  const ActionList& actions() const { return actions_; }
  const std::shared_ptr<FlowTable>& next() const { return next_; }

 private:
  std::uint32_t any_place();

  std::uint32_t ratio_;
  std::uint64_t state_;
  std::uint32_t place_ = 0;   // of the next frame among its `ratio`
  std::uint32_t chosen_ = 0;  // the one that is sampled
  ActionList actions_;
  std::shared_ptr<FlowTable> next_;
};

}  // namespace verbs::mlx5::steering
