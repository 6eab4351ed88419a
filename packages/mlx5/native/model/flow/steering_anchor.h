// Steering anchors: the numbers of root tables, for programs that direct frames there by their own devx commands.
#pragma once

#include "model/device/context.h"

namespace verbs::mlx5::model {

void forget_steering_anchors(Context& context);

}  // namespace verbs::mlx5::model
