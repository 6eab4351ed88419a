// The QP state machine as a table: the attributes that ibv_modify_qp requires and allows for each transition.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::nic {

// 0, or EINVAL: there is no such transition, a required attribute is missing, or an attribute is not allowed.
int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace verbs::soft::nic
