// Matchers of direct rules.
#include "model/dr/objects.h"

namespace verbs::mlx5::model {

namespace {

Live<DrMatcher>& matchers() { return live<DrMatcher>(); }

int remove_matcher(DrMatcher& matcher) {
  if (matcher.root) return 0;
  const DeviceLock lock(*matcher.table.domain.owner);
  if (lock.error() != 0) return lock.error();
  matcher.table.table->remove_matcher(*matcher.matcher);
  return 0;
}

}  // namespace

DrMatcher* find_dr_matcher(const mlx5dv_dr_matcher* handle) { return matchers().find(handle); }

std::span<const std::uint8_t> dr_match_bytes(const DrTable& table, const mlx5dv_flow_match_parameters* parameters) {
  // Outside of the root tables the size of a rule's value is a multiple of 4 bytes; that of a matcher's mask need not
  // be.
  if (!parameters || (!table.is_root() && parameters->match_sz % 4 != 0)) return {};
  return match_bytes(*parameters);
}

void forget_dr_matchers(Context& context) {
  matchers().remove_if([&](DrMatcher& matcher) {
    if (matcher.table.domain.owner != &context) return false;
    remove_matcher(matcher);
    return true;
  });
}

}  // namespace verbs::mlx5::model

using namespace verbs::mlx5::model;

mlx5dv_dr_matcher::mlx5dv_dr_matcher(mlx5dv_dr_table& its_table, std::uint16_t its_priority, std::uint8_t its_criteria)
    : table(its_table), priority(its_priority), criteria(its_criteria), used_table(its_table) {}

namespace verbs::mlx5::model {

mlx5dv_dr_matcher* mlx5dv_dr_matcher_create(mlx5dv_dr_table* handle, std::uint16_t priority, std::uint8_t criteria,
                                            mlx5dv_flow_match_parameters* parameters) {
  const ModelLock guard(model_mutex());
  DrTable* table = find_dr_table(handle);
  if (!table) return null_with<mlx5dv_dr_matcher>(EINVAL);
  // Outside of the root table, whose matchers the kernel checks, no mask and an empty one match everything.
  const std::span<const std::uint8_t> given = parameters ? match_bytes(*parameters) : std::span<const std::uint8_t>();
  const bool empty = !parameters || parameters->match_sz == 0;
  if (empty ? table->is_root() : given.empty()) return null_with<mlx5dv_dr_matcher>(EINVAL);
  std::array<std::uint8_t, steering::kMatchSize> mask;
  filter_mask(given, criteria, mask);
  Making matcher(matchers(), std::make_unique<DrMatcher>(*table, priority, criteria));
  Context& context = *table->domain.owner;
  if (table->is_root()) {
    matcher->root = std::make_unique<FlowMatcher>();
    matcher->root->owner = &context;
    matcher->root->direction = table->domain.direction();
    matcher->root->priority = priority;
    matcher->root->given = matcher->root->mask = mask;
  } else {
    const DeviceLock lock(context);
    if (lock.error() != 0) return null_with<mlx5dv_dr_matcher>(lock.error());
    matcher->matcher = &table->table->add_matcher(priority, mask);
  }
  return matcher.keep();
}

int mlx5dv_dr_matcher_destroy(mlx5dv_dr_matcher* handle) {
  const ModelLock guard(model_mutex());
  DrMatcher* matcher = matchers().find(handle);
  if (!matcher) return EINVAL;
  if (matcher->in_use()) return EBUSY;
  if (const int error = remove_matcher(*matcher)) return error;
  matchers().remove(matcher);
  return 0;
}

// A hint of how many rules to expect. Checked and ignored: the engine's tables grow as needed.
int mlx5dv_dr_matcher_set_layout(mlx5dv_dr_matcher* handle, mlx5dv_dr_matcher_layout* layout) {
  constexpr std::uint32_t kKnown = MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE | MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE;
  const ModelLock guard(model_mutex());
  const DrMatcher* matcher = matchers().find(handle);
  if (!matcher || !layout) return EINVAL;
  if (matcher->root || (layout->flags & ~kKnown) != 0) return EOPNOTSUPP;
  const bool counted = (layout->flags & MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE) != 0;
  const Capabilities& capabilities = matcher->table.domain.owner->device->capabilities;
  return counted && layout->log_num_of_rules_hint > capabilities.log_max_flow ? EINVAL : 0;
}

}  // namespace verbs::mlx5::model
