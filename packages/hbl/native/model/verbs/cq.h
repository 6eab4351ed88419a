// Completion queues with a mapped buffer.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl {

// Puts the model's verbs of completion queues in the place of the NIC's.
void install_cq_verbs(Context& context, verbs_soft_verbs& control);

}  // namespace verbs::hbl
