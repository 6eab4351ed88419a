// The verbs of queue pairs.
#pragma once

#include "model/device/context.h"

namespace verbs::hbl::model {

int hbldv_modify_qp(ibv_qp* verbs, ibv_qp_attr* attr, int mask, hbldv_qp_attr* hbl_attr);

// Replaces the NIC's verbs of queue pairs.
void install_qp_verbs(verbs_soft_verbs& control);

}  // namespace verbs::hbl::model
