// A sampler: some frames are copied to a list of actions of their own, all go on to the next table.
#pragma once

#include <cstdint>
#include <memory>

#include "action.h"

namespace verbs::mlx5::steering {

class Sampler {
 public:
  // One frame in `ratio` is sampled, by a generator with this seed; a ratio of 0 is taken as 1, which samples each.
  Sampler(std::uint32_t ratio, std::vector<Action> sample_actions, std::shared_ptr<FlowTable> next,
          std::uint64_t seed = 1);

  // Decides for the next frame.
  bool take();
  const ActionList& actions() const { return actions_; }
  const std::shared_ptr<FlowTable>& next() const { return next_; }

 private:
  std::uint32_t ratio_;
  std::uint64_t state_;
  ActionList actions_;
  std::shared_ptr<FlowTable> next_;
};

}  // namespace verbs::mlx5::steering
