#include "steering/actions/sampler.h"

#include <algorithm>

namespace verbs::mlx5::steering {

Sampler::Sampler(std::uint32_t ratio, std::vector<Action> sample_actions, std::shared_ptr<FlowTable> next,
                 std::uint64_t seed)
    : ratio_(std::max(ratio, 1u)), state_(seed), actions_(std::move(sample_actions)), next_(std::move(next)) {}

bool Sampler::sample() {
  if (position_ == 0) chosen_ = random_position();
  const bool sampled = position_ == chosen_;
  position_ = position_ + 1 == ratio_ ? 0 : position_ + 1;
  return sampled;
}

// SplitMix64: any seed works, and all numbers are equally likely.
std::uint32_t Sampler::random_position() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  // Scales the upper 32 bits to 0 .. ratio - 1.
  return static_cast<std::uint32_t>((mixed >> 32) * ratio_ >> 32);
}

}  // namespace verbs::mlx5::steering
