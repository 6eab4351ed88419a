// Translates the specifications of ibv_create_flow() into match parameters and actions.
#pragma once

#include <cstdint>
#include <span>

#include "model/flow/request.h"
#include "steering/packet/match_layout.h"

namespace verbs::mlx5::model {

// Reads num_of_specs specifications, each with its own size; like libibverbs it ignores the attributes' size. 0, EINVAL
// for a specification with a wrong size, or EOPNOTSUPP for one that the tables cannot match.
int read_specs(const ibv_flow_attr& attr, std::span<std::uint8_t, steering::kMatchSize> mask,
               std::span<std::uint8_t, steering::kMatchSize> value, FlowRequest& request, bool* drops);

}  // namespace verbs::mlx5::model
