// Direct rules.
#include <algorithm>

#include "model/dr/action.h"
#include "model/dr/objects.h"

namespace verbs::mlx5::model {

namespace {

Live<DrRule>& rules() { return live<DrRule>(); }

bool is_outside(std::span<const std::uint8_t> value, const DrMatcher& matcher) {
  const auto mask = matcher.root ? std::span<const std::uint8_t>(matcher.root->mask) : matcher.matcher->mask();
  for (std::size_t i = 0; i < value.size(); ++i) {
    // Sections that the criteria do not enable are ignored.
    const std::size_t section = i / steering::kMatchSectionSize;
    const bool counts = section < 8 && (matcher.criteria >> section & 1) != 0;
    if (counts && (value[i] & ~mask[i]) != 0) return true;
  }
  return false;
}

// The value without the sections that are ignored.
std::array<std::uint8_t, steering::kMatchSize> counted(std::span<const std::uint8_t> value, const DrMatcher& matcher) {
  std::array<std::uint8_t, steering::kMatchSize> kept;
  steering::filter_mask(value, matcher.criteria, kept);
  return kept;
}

// Translates an action of a root rule into an action of a flow.
int add_to_request(DrAction& action, const DrDomain& domain, FlowRequest& request) {
  if (action.owner && action.owner != domain.owner) return EINVAL;
  if (action.domain && action.domain != &domain) return EINVAL;
  switch (action.kind) {
    case DrKind::kDrop:
      return request.add_drop();
    case DrKind::kDefaultMiss:
      return request.add_default_miss();
    case DrKind::kTag:
      return request.add_tag(action.tag);
    case DrKind::kCounter:
      return request.add_counter(action.counter, action.counter_offset);
    case DrKind::kQp:
    case DrKind::kTable:
    case DrKind::kArray:
      return request.add_steps(action.steps);
    case DrKind::kL2Decap:
    case DrKind::kL3Decap:
    case DrKind::kL2Encap:
    case DrKind::kL3Encap:
    case DrKind::kModify:
      // An action that was not created for root tables has no flow action.
      return action.flow_action ? request.add_flow_action(action.flow_action) : EINVAL;
    default:
      return EOPNOTSUPP;
  }
}

// 0 or errno.
int insert_root(DrRule& rule, std::span<const std::uint8_t> value) {
  const DrDomain& domain = rule.matcher.table.domain;
  auto request = std::make_unique<FlowRequest>(*domain.owner);
  for (DrAction* action : rule.actions) {
    if (const int error = add_to_request(*action, domain, *request)) return error;
  }
  rule.flow = create_flow(*rule.matcher.root, value, std::move(request));
  return rule.flow ? 0 : errno;
}

int insert(DrRule& rule, std::span<const std::uint8_t> value) {
  const DrDomain& domain = rule.matcher.table.domain;
  if (const int error = check_actions(rule.matcher, rule.actions)) return error;
  std::vector<steering::Action> steps;
  for (const DrAction* action : rule.actions) steps.insert(steps.end(), action->steps.begin(), action->steps.end());
  const DeviceLock lock(*domain.owner);
  if (lock.error() != 0) return lock.error();
  steering::Matcher& matcher = *rule.matcher.matcher;
  if (!domain.duplicates && matcher.find(value)) return EEXIST;
  rule.rule = &matcher.add(value, steering::ActionList(std::move(steps)));
  return 0;
}

// EIO in a forked child.
int remove(DrRule& rule) {
  if (rule.flow) return destroy_flow(rule.flow);
  const DeviceLock lock(*rule.matcher.table.domain.owner);
  if (lock.error() != 0) return lock.error();
  rule.matcher.matcher->remove(*rule.rule);
  return 0;
}

}  // namespace

void forget_dr_rules(Context& context) {
  rules().remove_if([&](DrRule& rule) {
    // A counter may be of another context than its rule.
    const bool uses = std::ranges::any_of(rule.actions, [&](const DrAction* each) { return each->owner == &context; });
    if (rule.matcher.table.domain.owner != &context && !uses) return false;
    if (rule.flow) {
      forget_flow(*rule.flow);
    } else {
      remove(rule);
    }
    return true;
  });
}

mlx5dv_dr_rule* mlx5dv_dr_rule_create(mlx5dv_dr_matcher* handle, mlx5dv_flow_match_parameters* parameters,
                                      std::size_t count, mlx5dv_dr_action* actions[]) {
  const ModelLock guard(model_mutex());
  DrMatcher* matcher = find_dr_matcher(handle);
  if (!matcher || (count != 0 && !actions)) return null_with<mlx5dv_dr_rule>(EINVAL);
  const std::span<const std::uint8_t> value = dr_match_bytes(matcher->table, parameters);
  if (value.empty()) return null_with<mlx5dv_dr_rule>(EINVAL);
  if (is_outside(value, *matcher)) return null_with<mlx5dv_dr_rule>(EINVAL);
  Making rule(rules(), std::make_unique<DrRule>(*matcher));
  for (std::size_t i = 0; i < count; ++i) {
    DrAction* action = find_dr_action(actions[i]);
    if (!action) return null_with<mlx5dv_dr_rule>(EINVAL);
    rule->actions.push_back(action);
    rule->used_actions.emplace_back(*action);
  }
  const auto whole = counted(value, *matcher);
  const int error = matcher->root ? insert_root(*rule, whole) : insert(*rule, whole);
  return error == 0 ? rule.keep() : null_with<mlx5dv_dr_rule>(error);
}

int mlx5dv_dr_rule_destroy(mlx5dv_dr_rule* handle) {
  const ModelLock guard(model_mutex());
  DrRule* rule = rules().find(handle);
  if (!rule) return EINVAL;
  if (const int error = remove(*rule)) return error;
  rules().remove(rule);
  return 0;
}

}  // namespace verbs::mlx5::model

// Matchers of direct rules.

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
  steering::filter_mask(given, criteria, mask);
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
