// Direct rules: domains, tables, matchers and rules. mlx5dv.h declares these types without definitions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/device/objects.h"
#include "model/flow/flow.h"
#include "steering/pipeline/matcher.h"

// The tables of one direction of a device, by level. Level 0 holds the root tables, which flows of the verbs also use.
struct mlx5dv_dr_domain : verbs::mlx5::model::Counted {
  verbs::mlx5::model::Context* owner = nullptr;
  mlx5dv_dr_domain_type type = MLX5DV_DR_DOMAIN_TYPE_NIC_RX;
  bool duplicates = true;  // several rules may have the same match

  verbs::mlx5::model::Direction direction() const {
    return type == MLX5DV_DR_DOMAIN_TYPE_NIC_RX ? verbs::mlx5::model::Direction::kReceive
                                                : verbs::mlx5::model::Direction::kTransmit;
  }
};

struct mlx5dv_dr_table : verbs::mlx5::model::Counted {
  mlx5dv_dr_table(mlx5dv_dr_domain& its_domain, std::uint32_t its_level);
  bool is_root() const { return level == 0; }

  mlx5dv_dr_domain& domain;
  const std::uint32_t level;
  // nullptr for a root, whose matchers choose a table by priority.
  const std::shared_ptr<verbs::mlx5::steering::FlowTable> table;
  verbs::mlx5::model::Use used_domain;
};

struct mlx5dv_dr_matcher : verbs::mlx5::model::Counted {
  mlx5dv_dr_matcher(mlx5dv_dr_table& its_table, std::uint16_t its_priority, std::uint8_t its_criteria);

  mlx5dv_dr_table& table;
  const std::uint16_t priority;
  const std::uint8_t criteria;
  // One of these: in a root table a matcher of the verbs.
  verbs::mlx5::steering::Matcher* matcher = nullptr;
  std::unique_ptr<verbs::mlx5::model::FlowMatcher> root;
  verbs::mlx5::model::Use used_table;
};

struct mlx5dv_dr_rule {
  explicit mlx5dv_dr_rule(mlx5dv_dr_matcher& its_matcher) : matcher(its_matcher), used_matcher(its_matcher) {}

  mlx5dv_dr_matcher& matcher;
  // One of these: in a root table a flow of the verbs.
  verbs::mlx5::steering::Rule* rule = nullptr;
  verbs::mlx5::model::Flow* flow = nullptr;
  std::vector<mlx5dv_dr_action*> actions;  // for the dump; in use by this rule
  verbs::mlx5::model::Use used_matcher;
  verbs::mlx5::model::Uses used_actions;
};

namespace verbs::mlx5::model {

using DrDomain = mlx5dv_dr_domain;
using DrTable = mlx5dv_dr_table;
using DrMatcher = mlx5dv_dr_matcher;
using DrRule = mlx5dv_dr_rule;

// nullptr for an unknown or stale pointer.
DrDomain* find_dr_domain(const mlx5dv_dr_domain* handle);
DrTable* find_dr_table(const mlx5dv_dr_table* handle);
DrMatcher* find_dr_matcher(const mlx5dv_dr_matcher* handle);

// The bytes of match parameters; empty without parameters or if the table does not accept their size.
std::span<const std::uint8_t> dr_match_bytes(const DrTable& table, const mlx5dv_flow_match_parameters* parameters);

// Destroy the objects of a context that is closed. Call in this order.
void forget_dr_rules(Context& context);
void forget_dr_actions(Context& context);
void forget_dr_matchers(Context& context);
void forget_dr_tables(Context& context);

}  // namespace verbs::mlx5::model
