// The specifications of a flow of the plain verbs, as match parameters and actions.
#pragma once

#include <cstdint>
#include <span>

#include "model/flow/request.h"
#include "steering/packet/match_layout.h"

namespace verbs::mlx5 {

// Reads as many as the attributes say, one behind the other by their own sizes (as libibverbs does; the size in the
// attributes counts for nothing). 0, EINVAL for a size that is not its type's, EOPNOTSUPP for what cannot be matched.
int read_specs(const ibv_flow_attr& attr, std::span<std::uint8_t, steering::kMatchSize> mask,
               std::span<std::uint8_t, steering::kMatchSize> value, FlowRequest& request, bool* drops);

}  // namespace verbs::mlx5
