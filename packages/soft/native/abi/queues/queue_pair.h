// Creating queue pairs of every type.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// `pd` is nullptr for an XRC target, `xrcd` for every other type. Attributes that the type does not use are not
// checked.
ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_xrcd* xrcd, ibv_qp_init_attr* attr);

}  // namespace verbs::soft::abi
