// Slots of a context that are filled for the sake of callers that do not check them, and those that are thin.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// This device has no memory windows and XRC domains: EOPNOTSUPP.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
int dealloc_mw(ibv_mw* mw);
int close_xrcd(ibv_xrcd* xrcd);

// A QP with no more than what ibv_create_qp() can make; anything else is EOPNOTSUPP.
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr);

}  // namespace verbs::soft::abi
