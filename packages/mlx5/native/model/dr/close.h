// Looking up the objects of direct rules, and what is left of a context's.
#pragma once

#include <span>

#include "model/dr/objects.h"

namespace verbs::mlx5 {

// nullptr: no such object, or not any more.
DrDomain* find_dr_domain(const mlx5dv_dr_domain* face);
DrTable* find_dr_table(const mlx5dv_dr_table* face);
DrMatcher* find_dr_matcher(const mlx5dv_dr_matcher* face);

// The bytes of match parameters, empty if they are none or their size is none that the table takes.
std::span<const std::uint8_t> dr_match_bytes(const DrTable& table, const mlx5dv_flow_match_parameters* parameters);

// In this order, at the end of a context.
void forget_dr_rules(Context& context);
void forget_dr_actions(Context& context);
void forget_dr_matchers(Context& context);
void forget_dr_tables(Context& context);

}  // namespace verbs::mlx5
