#include "steering/pipeline/flow_table.h"

#include <algorithm>

namespace verbs::mlx5::steering {

std::size_t FlowTable::rules() const {
  std::size_t count = 0;
  for (const auto& matcher : matchers_) count += matcher->rules();
  return count;
}

Matcher& FlowTable::add_matcher(std::uint32_t priority, std::span<const std::uint8_t> mask) {
  const auto at = std::upper_bound(matchers_.begin(), matchers_.end(), priority,
                                   [](std::uint32_t p, const auto& matcher) { return p < matcher->priority(); });
  return **matchers_.insert(at, std::make_unique<Matcher>(priority, mask));
}

Matcher* FlowTable::find_matcher(std::uint32_t priority, std::span<const std::uint8_t> mask) const {
  for (const auto& matcher : matchers_) {
    if (matcher->priority() == priority && matcher->has_mask(mask)) return matcher.get();
  }
  return nullptr;
}

void FlowTable::remove_matcher(Matcher& matcher) {
  std::erase_if(matchers_, [&](const auto& candidate) { return candidate.get() == &matcher; });
}

const Rule* FlowTable::look_up(Packet& packet, const GeneveOption& option) const {
  for (const auto& matcher : matchers_) {
    if (const Rule* rule = matcher->look_up(packet, option)) return rule;
  }
  return nullptr;
}

}  // namespace verbs::mlx5::steering
