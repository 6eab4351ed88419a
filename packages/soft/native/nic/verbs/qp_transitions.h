// The QP state machine as a table: which attributes ibv_modify_qp needs and allows for each change of state.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::nic {

// 0, or EINVAL when the change is not one, an attribute that it needs is missing, or one that it does not allow is
// there.
int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace verbs::soft::nic
