#include "abi/model/control_verbs.h"

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

// The exported functions check that their objects are live; the functions of the table rely on it.
extern "C" {

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  return abi::is_live(context) ? abi::of(context)->control.query_device(context, attr) : EINVAL;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (!abi::is_live(context)) return abi::null_with<ibv_pd>(EINVAL);
  return abi::of(context)->control.alloc_pd(context);
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  if (!abi::is_live(pd)) return abi::null_with<ibv_ah>(EINVAL);
  return abi::of(pd->context)->control.create_ah(pd, attr);
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
  if (!abi::is_live(context)) return abi::null_with<ibv_cq>(EINVAL);
  return abi::of(context)->control.create_cq(context, cqe, cq_context, channel, comp_vector);
}

int ibv_destroy_cq(ibv_cq* cq) { return abi::is_live(cq) ? abi::of(cq->context)->control.destroy_cq(cq) : EINVAL; }

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (!abi::is_live(pd)) return abi::null_with<ibv_qp>(EINVAL);
  return abi::of(pd->context)->control.create_qp(pd, attr);
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  return abi::is_live(qp) ? abi::of(qp->context)->control.modify_qp(qp, attr, mask) : EINVAL;
}

int ibv_destroy_qp(ibv_qp* qp) { return abi::is_live(qp) ? abi::of(qp->context)->control.destroy_qp(qp) : EINVAL; }

}  // extern "C"
