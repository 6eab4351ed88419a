// Flow matchers: a mask for a table type and a priority.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/device/context.h"
#include "model/device/objects.h"
#include "steering/packet/match_layout.h"

// mlx5dv.h declares this type without a definition.
struct mlx5dv_flow_matcher : verbs::mlx5::model::Counted {
  verbs::mlx5::model::Context* owner = nullptr;
  verbs::mlx5::model::Direction direction = verbs::mlx5::model::Direction::kReceive;
  std::uint16_t priority = 0;
  // The mask of the attributes, and the mask restricted to the enabled criteria.
  std::array<std::uint8_t, verbs::mlx5::steering::kMatchSize> given{};
  std::array<std::uint8_t, verbs::mlx5::steering::kMatchSize> mask{};
};

namespace verbs::mlx5::model {

using FlowMatcher = mlx5dv_flow_matcher;

FlowMatcher* find_flow_matcher(const mlx5dv_flow_matcher* handle);
void forget_flow_matchers(Context& context);

// The bytes of match parameters; empty if they are too long.
std::span<const std::uint8_t> match_bytes(const mlx5dv_flow_match_parameters& parameters);
// Copies the sections of a mask that the criteria enable, and zeroes the others.
void filter_mask(std::span<const std::uint8_t> given, std::uint8_t criteria,
                 std::span<std::uint8_t, steering::kMatchSize> mask);

}  // namespace verbs::mlx5::model
