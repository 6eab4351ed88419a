#include <cerrno>
#include <cstring>

#include "acknowledgement.h"
#include "control_verbs.h"
#include "objects.h"

using namespace verbs::soft;

namespace {

void release(abi::Qp* qp) {
  ibv_qp& face = qp->face;
  abi::of(face.context)->handles.remove(face.handle);
  pthread_cond_destroy(&face.cond);
  pthread_mutex_destroy(&face.mutex);
  delete qp;
}

int detach(abi::Qp* qp) {
  const int error = abi::control(qp->face.context, [&](nic::Nic& nic, link::Nanos) { return nic.destroy_qp(qp->nic); });
  if (error != 0) return error;
  qp->events.async->forget(&qp->events);
  return 0;
}

void destroy_unacknowledged(void* object) {
  auto* qp = static_cast<abi::Qp*>(object);
  if (detach(qp) == 0) release(qp);
}

// Control calls of a QP also show its new state in ibv_qp.state, as programs read it there.
template <typename Call>
int control(abi::Qp* qp, Call&& call) {
  return abi::control(qp->face.context, [&](nic::Nic& nic, link::Nanos now) {
    const int error = call(nic, now);
    qp->face.state = nic::qp_state(qp->nic);
    return error;
  });
}

}  // namespace

extern "C" {

ibv_qp* soft_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  ibv_context* context = pd->context;
  if (!abi::is_usable(attr->send_cq, context) || !abi::is_usable(attr->recv_cq, context) ||
      (attr->srq && !abi::is_usable(attr->srq, context))) {
    return abi::null_with<ibv_qp>(EINVAL);
  }
  auto qp = std::make_unique<abi::Qp>();
  ibv_qp& face = qp->face;
  qp->adapter = abi::of(context)->adapter;
  qp->sq_sig_all = attr->sq_sig_all != 0;
  qp->events.face = &face;
  qp->events.async = &abi::of(context)->async;
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    const nic::QpParts parts{.pd = abi::of(pd)->nic,
                             .send_cq = abi::of(attr->send_cq)->nic,
                             .recv_cq = abi::of(attr->recv_cq)->nic,
                             .srq = attr->srq ? abi::of(attr->srq)->nic : nullptr};
    const int failure = nic.create_qp(parts, attr, &qp->events, &qp->nic);
    if (failure == 0) face.qp_num = nic::qp_num(qp->nic);
    return failure;
  });
  if (error != 0) return abi::null_with<ibv_qp>(error);
  face.context = context;
  face.qp_context = attr->qp_context;
  face.pd = pd;
  face.send_cq = attr->send_cq;
  face.recv_cq = attr->recv_cq;
  face.srq = attr->srq;
  face.state = IBV_QPS_RESET;
  face.qp_type = attr->qp_type;
  pthread_mutex_init(&face.mutex, nullptr);
  pthread_cond_init(&face.cond, nullptr);
  face.handle = abi::of(context)->handles.add(qp.get(), destroy_unacknowledged, abi::users_of(pd));
  return &qp.release()->face;
}

int soft_modify_qp(ibv_qp* face, ibv_qp_attr* attr, int mask) {
  abi::Qp* qp = abi::of(face);
  return control(qp, [&](nic::Nic& nic, link::Nanos now) { return nic.modify_qp(qp->nic, attr, mask, now); });
}

int ibv_query_qp(ibv_qp* face, ibv_qp_attr* attr, int, ibv_qp_init_attr* init_attr) {
  if (!abi::is_live(face)) return EINVAL;
  abi::Qp* qp = abi::of(face);
  const int error = control(qp, [&](nic::Nic& nic, link::Nanos) {
    std::memset(attr, 0, sizeof *attr);
    std::memset(init_attr, 0, sizeof *init_attr);
    return nic.query_qp(qp->nic, attr, init_attr);
  });
  if (error != 0) return error;
  init_attr->qp_context = face->qp_context;
  init_attr->send_cq = face->send_cq;
  init_attr->recv_cq = face->recv_cq;
  init_attr->srq = face->srq;
  init_attr->qp_type = face->qp_type;
  init_attr->sq_sig_all = qp->sq_sig_all;
  return 0;
}

int soft_destroy_qp(ibv_qp* face) {
  abi::Qp* qp = abi::of(face);
  if (const int error = detach(qp)) return error;
  abi::wait_for_acknowledgements(*face, qp->events);
  release(qp);
  return 0;
}

// Data may be written out of order when packets are lost and sent again.
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }

int ibv_query_ece(ibv_qp*, ibv_ece* ece) {
  *ece = {};
  return EOPNOTSUPP;
}

int ibv_set_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }

}  // extern "C"
