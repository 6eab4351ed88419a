// Creating a QP and changing its state: ibv_create_qp, ibv_modify_qp and ibv_query_qp.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Checks `init` against the limits and lays out the queues; writes back the capacities that the QP has.
int lay_out_qp(Core& core, ibv_qp_init_attr& init, Qp& qp);

int modify_qp(Core& core, Qp& qp, const ibv_qp_attr& attr, int mask);

void query_qp(const Qp& qp, ibv_qp_attr& attr, ibv_qp_init_attr& init);

}  // namespace verbs::soft::nic
