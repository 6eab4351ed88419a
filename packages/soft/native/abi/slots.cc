#include "slots.h"

#include <cerrno>

#include "objects.h"

namespace verbs::soft::abi {

int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*) { return EOPNOTSUPP; }
int dealloc_mw(ibv_mw*) { return EOPNOTSUPP; }
int close_xrcd(ibv_xrcd*) { return EOPNOTSUPP; }

ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* attr) {
  if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) return null_with<ibv_qp>(EINVAL);
  if (attr->comp_mask != IBV_QP_INIT_ATTR_PD) return null_with<ibv_qp>(EOPNOTSUPP);
  // The extended structure begins as the plain one does.
  return ibv_create_qp(attr->pd, reinterpret_cast<ibv_qp_init_attr*>(attr));
}

}  // namespace verbs::soft::abi
