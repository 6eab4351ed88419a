#include "control_verbs.h"

#include "objects.h"

using namespace verbs::soft;

extern "C" {

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  return abi::of(context)->control.query_device(context, attr);
}

ibv_pd* ibv_alloc_pd(ibv_context* context) { return abi::of(context)->control.alloc_pd(context); }

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) { return abi::of(pd->context)->control.create_ah(pd, attr); }

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
  return abi::of(context)->control.create_cq(context, cqe, cq_context, channel, comp_vector);
}

int ibv_destroy_cq(ibv_cq* cq) { return abi::of(cq->context)->control.destroy_cq(cq); }

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) { return abi::of(pd->context)->control.create_qp(pd, attr); }

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  return abi::of(qp->context)->control.modify_qp(qp, attr, mask);
}

int ibv_destroy_qp(ibv_qp* qp) { return abi::of(qp->context)->control.destroy_qp(qp); }

}  // extern "C"
