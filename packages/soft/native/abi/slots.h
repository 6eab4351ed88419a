// Slots of a context that are filled for the sake of callers that do not check them, and those that are thin.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// This device has no memory windows and XRC domains: EOPNOTSUPP.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
int dealloc_mw(ibv_mw* mw);
int close_xrcd(ibv_xrcd* xrcd);

}  // namespace verbs::soft::abi
