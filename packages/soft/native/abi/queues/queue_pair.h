// Creating queue pairs of every type.
#pragma once

#include <infiniband/verbs.h>

#include "nic/objects/indirection_table.h"

namespace verbs::soft::abi {

// `pd` is nullptr for an XRC target, `xrcd` for every other type. Attributes that the type does not use are not
// checked.
// `spread` is for a queue pair that spreads its frames over receive work queues, and has none of its own.
ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_xrcd* xrcd, ibv_qp_init_attr* attr,
                  const nic::Spread* spread = nullptr);

}  // namespace verbs::soft::abi
