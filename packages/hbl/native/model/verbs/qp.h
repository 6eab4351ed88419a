// The verbs of queue pairs.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl::model {

// Replaces the NIC's verbs of queue pairs.
void install_qp_verbs(verbs_soft_verbs& control);

}  // namespace verbs::hbl::model
