// Direct rules' drop, default miss, tag and counter actions, and the destruction of all actions.
#include "model/dr/action.h"

#include "model/devx/counters.h"
#include "model/flow/action.h"

namespace verbs::mlx5::model {

namespace {

Live<DrAction>& actions() { return live<DrAction>(); }

mlx5dv_dr_action* add(DrKind kind, steering::Action step) {
  auto action = std::make_unique<DrAction>(kind);
  action->steps.push_back(std::move(step));
  return add_dr_action(std::move(action));
}

}  // namespace

DrAction* find_dr_action(const mlx5dv_dr_action* handle) { return actions().find(handle); }

std::unique_ptr<DrAction> action_to(DrKind kind, DrTable& table) {
  auto action = std::make_unique<DrAction>(kind);
  action->owner = table.domain.owner;
  action->domain = &table.domain;
  if (!table.is_root()) action->next_level = table.level;
  action->used.emplace_back(table);
  return action;
}

mlx5dv_dr_action* add_dr_action(std::unique_ptr<DrAction> action) {
  const ModelLock guard(model_mutex());
  return actions().add(std::move(action));
}

// An action may be part of another one, which has to be destroyed first.
void forget_dr_actions(Context& context) {
  bool more = true;
  while (more) {
    more = false;
    actions().remove_if([&](const DrAction& action) {
      const bool removed = action.owner == &context && !action.in_use();
      more |= removed;
      return removed;
    });
  }
}

}  // namespace verbs::mlx5::model

using namespace verbs::mlx5::model;

mlx5dv_dr_action::~mlx5dv_dr_action() {
  if (flow_action) destroy_flow_action(flow_action);
  if (!meter) return;
  const DeviceLock lock(*owner);
  --owner->device->clocked;
}

namespace verbs::mlx5::model {

mlx5dv_dr_action* mlx5dv_dr_action_create_drop() { return add(DrKind::kDrop, steering::Destination{steering::Drop{}}); }

mlx5dv_dr_action* mlx5dv_dr_action_create_default_miss() {
  return add(DrKind::kDefaultMiss, steering::Destination{steering::DefaultMiss{}});
}

mlx5dv_dr_action* mlx5dv_dr_action_create_tag(std::uint32_t tag) {
  auto action = std::make_unique<DrAction>(DrKind::kTag);
  action->tag = tag & 0xffffff;
  action->steps.emplace_back(steering::SetTag{action->tag});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* mlx5dv_dr_action_create_flow_counter(mlx5dv_devx_obj* handle, std::uint32_t offset) {
  const ModelLock guard(model_mutex());
  Context* context = nullptr;
  auto* counters = dynamic_cast<DevxCounters*>(find_devx_object(handle, &context));
  if (!counters || offset >= counters->count()) return null_with<mlx5dv_dr_action>(EINVAL);
  auto action = std::make_unique<DrAction>(DrKind::kCounter);
  action->owner = context;
  action->used.emplace_back(*counters);
  action->counter = counters;
  action->counter_offset = offset;
  action->steps.emplace_back(steering::CountAction{counters->at(offset)});
  return add_dr_action(std::move(action));
}

int mlx5dv_dr_action_destroy(mlx5dv_dr_action* handle) {
  const ModelLock guard(model_mutex());
  DrAction* action = actions().find(handle);
  if (!action) return EINVAL;
  if (action->in_use()) return EBUSY;
  actions().remove(action);
  return 0;
}

}  // namespace verbs::mlx5::model
