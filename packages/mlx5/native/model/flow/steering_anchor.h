// Steering anchors: the numbers of root tables, for programs that lead frames there by commands of their own.
#pragma once

#include "model/device/context.h"

namespace verbs::mlx5 {

void forget_steering_anchors(Context& context);

}  // namespace verbs::mlx5
