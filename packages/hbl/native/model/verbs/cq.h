// The verbs of completion queues.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl::model {

// Replaces the NIC's verbs of completion queues in this context.
void install_cq_verbs(Context& context, verbs_soft_verbs& control);

}  // namespace verbs::hbl::model
