#include "abi/model/control_verbs.h"

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

// The exported functions look their objects up; the functions of the table rely on it. A model destroys an object that
// no other call finds any more.
extern "C" {

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(context);
    return error == 0 ? abi::of(context)->control.query_device(context, attr) : error;
  });
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(context);
    return error == 0 ? abi::of(context)->control.alloc_pd(context) : abi::null_with<ibv_pd>(error);
  });
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(pd);
    return error == 0 ? abi::of(pd->context)->control.create_ah(pd, attr) : abi::null_with<ibv_ah>(error);
  });
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(context)) return abi::null_with<ibv_cq>(error);
    return abi::of(context)->control.create_cq(context, cqe, cq_context, channel, comp_vector);
  });
}

int ibv_destroy_cq(ibv_cq* cq) {
  return verb([&] {
    abi::Retirement retirement;
    const int error = retirement.begin(cq);
    return error == 0 ? abi::of(cq->context)->control.destroy_cq(cq) : error;
  });
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(pd, ENOENT);
    return error == 0 ? abi::of(pd->context)->control.create_qp(pd, attr) : abi::null_with<ibv_qp>(error);
  });
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(qp);
    return error == 0 ? abi::of(qp->context)->control.modify_qp(qp, attr, mask) : error;
  });
}

int ibv_destroy_qp(ibv_qp* qp) {
  return verb([&] {
    abi::Retirement retirement;
    const int error = retirement.begin(qp);
    return error == 0 ? abi::of(qp->context)->control.destroy_qp(qp) : error;
  });
}

}  // extern "C"
