#include "steering/actions/sampler.h"

#include <algorithm>

namespace verbs::mlx5::steering {

Sampler::Sampler(std::uint32_t ratio, std::vector<Action> sample_actions, std::shared_ptr<FlowTable> next,
                 std::uint64_t seed)
    : ratio_(std::max(ratio, 1u)), state_(seed), actions_(std::move(sample_actions)), next_(std::move(next)) {}

bool Sampler::take() {
  if (place_ == 0) chosen_ = any_place();
  const bool taken = place_ == chosen_;
  place_ = place_ + 1 == ratio_ ? 0 : place_ + 1;
  return taken;
}

// SplitMix64: any seed will do, and each number is as likely as any other.
std::uint32_t Sampler::any_place() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  // The upper 32 bits times the ratio fall into `ratio` ranges of the same size.
  return static_cast<std::uint32_t>((mixed >> 32) * ratio_ >> 32);
}

}  // namespace verbs::mlx5::steering
