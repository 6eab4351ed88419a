// ibv_qp_ex: the QP with the extended post calls (ibv_wr_*).
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// The create_qp_ex slot. EOPNOTSUPP for a bit of comp_mask, a creation flag or an operation that this device does not
// have for the type of QP.
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr);

}  // namespace verbs::soft::abi
