// Direct rules: domains, tables, matchers, rules and their actions. The types are those that mlx5dv.h leaves open.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "model/device/objects.h"
#include "model/flow/flow.h"
#include "steering/pipeline/flow_table.h"

// The tables of one direction of a device, by level; level 0 are the root tables, which flows of the verbs use too.
struct mlx5dv_dr_domain : verbs::mlx5::Counted {
  verbs::mlx5::Context* owner = nullptr;
  mlx5dv_dr_domain_type type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
  bool duplicates = true;  // rules with the same match may be there twice

  verbs::mlx5::Direction direction() const {
    return type == MLX5DV_DR_DOMAIN_TYPE_NIC_RX ? verbs::mlx5::Direction::kReceive : verbs::mlx5::Direction::kTransmit;
  }
};

struct mlx5dv_dr_table : verbs::mlx5::Counted {
  mlx5dv_dr_table(mlx5dv_dr_domain& its_domain, std::uint32_t its_level);
  bool is_root() const { return level == 0; }

  mlx5dv_dr_domain& domain;
  const std::uint32_t level;
  const std::shared_ptr<verbs::mlx5::steering::FlowTable> table;  // null of a root: matchers have priorities there
  verbs::mlx5::Use used_domain;
};

struct mlx5dv_dr_matcher : verbs::mlx5::Counted {
  mlx5dv_dr_matcher(mlx5dv_dr_table& its_table, std::uint16_t its_priority, std::uint8_t its_criteria);

  mlx5dv_dr_table& table;
  const std::uint16_t priority;
  const std::uint8_t criteria;
  // One of these: in a root table a matcher of the verbs.
  verbs::mlx5::steering::Matcher* matcher = nullptr;
  std::unique_ptr<verbs::mlx5::FlowMatcher> root;
  verbs::mlx5::Use used_table;
};

struct mlx5dv_dr_rule {
  explicit mlx5dv_dr_rule(mlx5dv_dr_matcher& its_matcher) : matcher(its_matcher), used_matcher(its_matcher) {}

  mlx5dv_dr_matcher& matcher;
  // One of these: in a root table a flow of the verbs.
  verbs::mlx5::steering::Rule* rule = nullptr;
  verbs::mlx5::Flow* flow = nullptr;
  std::vector<mlx5dv_dr_action*> actions;  // for the dump; in use by this rule
  verbs::mlx5::Use used_matcher;
  verbs::mlx5::Uses used_actions;
};

namespace verbs::mlx5 {

using DrDomain = mlx5dv_dr_domain;
using DrTable = mlx5dv_dr_table;
using DrMatcher = mlx5dv_dr_matcher;
using DrRule = mlx5dv_dr_rule;

}  // namespace verbs::mlx5
