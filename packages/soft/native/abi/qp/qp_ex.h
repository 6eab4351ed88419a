// ibv_qp_ex: the QP with the extended post calls (ibv_wr_*).
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// The create_qp_ex slot. EOPNOTSUPP for what this device does not have: a bit of comp_mask, a creation flag, an
// operation that the type of QP lacks.
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr);

}  // namespace verbs::soft::abi
