// Memory windows: the calls behind the slots of the context.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int dealloc_mw(ibv_mw* mw);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);

}  // namespace verbs::soft::abi
