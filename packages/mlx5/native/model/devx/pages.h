// What the kernel gives to programs that make queues by devx commands: pages for doorbells, and entries of packet
// pacing.
#pragma once

#include "model/device/device.h"

namespace verbs::mlx5::model {

void forget_uars(Context& context);
void forget_pacing(Context& context);

}  // namespace verbs::mlx5::model
