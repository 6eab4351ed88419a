// The actions of direct rules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/dr/objects.h"
#include "steering/actions/action.h"
#include "steering/actions/meter.h"

namespace verbs::mlx5::model {

class DevxCounters;

enum class DrKind : std::uint8_t {
  kDrop,
  kDefaultMiss,
  kQp,
  kTable,
  kArray,
  kSampler,
  kMeter,
  kTag,
  kCounter,
  kL2Decap,
  kL3Decap,
  kL2Encap,
  kL3Encap,
  kModify,
  kPopVlan,
  kPushVlan,
};

const char* name_of(DrKind kind);

}  // namespace verbs::mlx5::model

struct mlx5dv_dr_action : verbs::mlx5::model::Counted {
  explicit mlx5dv_dr_action(verbs::mlx5::model::DrKind its_kind) : kind(its_kind) {}
  ~mlx5dv_dr_action();

  const verbs::mlx5::model::DrKind kind;
  verbs::mlx5::model::Context* owner = nullptr;  // nullptr: independent of a context
  mlx5dv_dr_domain* domain = nullptr;            // nullptr: for any domain
  // The lowest level of the action's next tables. Rules in tables of higher levels cannot have it.
  std::optional<std::uint32_t> next_level;
  // The steering engine's actions, in this order. Empty for a flow action of root tables.
  std::vector<verbs::mlx5::steering::Action> steps;
  // The flow action, counter and tag that a rule of a root table passes to the verbs.
  ibv_flow_action* flow_action = nullptr;
  verbs::mlx5::model::DevxCounters* counter = nullptr;
  std::uint32_t counter_offset = 0;
  std::uint32_t tag = 0;
  std::shared_ptr<verbs::mlx5::steering::Meter> meter;
  verbs::mlx5::model::Uses used;
};

namespace verbs::mlx5::model {

using DrAction = mlx5dv_dr_action;

// nullptr for an unknown or stale pointer.
DrAction* find_dr_action(const mlx5dv_dr_action* handle);
// An action that leads to a table, and uses it.
std::unique_ptr<DrAction> action_to(DrKind kind, DrTable& table);
mlx5dv_dr_action* add_dr_action(std::unique_ptr<DrAction> action);
// Checks the order and number of a rule's actions outside of the root tables: 0, EINVAL or EOPNOTSUPP.
int check_actions(const DrMatcher& matcher, const std::vector<DrAction*>& actions);

}  // namespace verbs::mlx5::model
