// The QP state machine as a table: the attributes that ibv_modify_qp requires and allows for each transition.
#pragma once

#include <infiniband/verbs.h>

#include "nic/base/reasons.h"

namespace verbs::soft::nic {

// The attributes of `mask` that a type of queue pair has. Programs give both halves of an XRC connection the mask of
// RC, and the kernel drops what belongs to the other half (modify_qp_mask() of uverbs) before it checks the rest.
int applicable_attributes(ibv_qp_type type, int mask);

// 0, or EINVAL: there is no such transition, a required attribute is missing, or an attribute is not allowed. *why
// says which.
int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask, Why* why = nullptr);

}  // namespace verbs::soft::nic
