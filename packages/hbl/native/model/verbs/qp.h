// Queue pairs.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl {

// Puts the model's verbs of queue pairs in the place of the NIC's.
void install_qp_verbs(verbs_soft_verbs& control);

}  // namespace verbs::hbl
