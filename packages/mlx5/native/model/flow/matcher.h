// Flow matchers of the verbs: a mask for a table type and a priority.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/device/context.h"
#include "model/device/objects.h"
#include "steering/packet/match_layout.h"

// The type that mlx5dv.h leaves open.
struct mlx5dv_flow_matcher : verbs::mlx5::Counted {
  verbs::mlx5::Context* owner = nullptr;
  verbs::mlx5::Direction direction = verbs::mlx5::Direction::kReceive;
  std::uint16_t priority = 0;
  // As it was given, and what the enabled criteria leave of it.
  std::array<std::uint8_t, verbs::mlx5::steering::kMatchSize> given{};
  std::array<std::uint8_t, verbs::mlx5::steering::kMatchSize> mask{};
};

namespace verbs::mlx5 {

using FlowMatcher = mlx5dv_flow_matcher;

FlowMatcher* find_flow_matcher(const mlx5dv_flow_matcher* face);
void forget_flow_matchers(Context& context);

// The bytes of match parameters, empty if their size is none that is taken.
std::span<const std::uint8_t> match_bytes(const mlx5dv_flow_match_parameters& parameters);
// What is left of a mask when only the enabled criteria count.
void filter_mask(std::span<const std::uint8_t> given, std::uint8_t criteria,
                 std::span<std::uint8_t, steering::kMatchSize> mask);

}  // namespace verbs::mlx5
