// The actions of direct rules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/devx/objects.h"
#include "model/dr/objects.h"
#include "steering/actions/action.h"
#include "steering/actions/meter.h"

namespace verbs::mlx5 {

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

}  // namespace verbs::mlx5

struct mlx5dv_dr_action : verbs::mlx5::Counted {
  explicit mlx5dv_dr_action(verbs::mlx5::DrKind its_kind) : kind(its_kind) {}
  ~mlx5dv_dr_action();

  const verbs::mlx5::DrKind kind;
  verbs::mlx5::Context* owner = nullptr;  // null: of no context
  mlx5dv_dr_domain* domain = nullptr;     // null: for any
  // The lowest level that the action leads to; rules of higher levels cannot have it.
  std::optional<std::uint32_t> next_level;
  // What the engine does for it, in this order. Empty for an action of root tables that is a flow action.
  std::vector<verbs::mlx5::steering::Action> steps;
  // What a root rule asks the verbs for.
  ibv_flow_action* flow_action = nullptr;
  mlx5dv_devx_obj* counter = nullptr;
  std::uint32_t counter_offset = 0;
  std::uint32_t tag = 0;
  std::shared_ptr<verbs::mlx5::steering::Meter> meter;
  verbs::mlx5::Uses used;
};

namespace verbs::mlx5 {

using DrAction = mlx5dv_dr_action;

// nullptr: no such action, or not any more.
DrAction* find_dr_action(const mlx5dv_dr_action* face);
mlx5dv_dr_action* add_dr_action(std::unique_ptr<DrAction> action);
// The rules of order and number for the actions of a rule outside of the root tables: 0, EINVAL or EOPNOTSUPP.
int check_actions(const DrMatcher& matcher, const std::vector<DrAction*>& actions);

}  // namespace verbs::mlx5
