#include "abi/qp/qp.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "abi/events/acknowledgement.h"
#include "abi/model/control_verbs.h"
#include "abi/objects/objects.h"
#include "abi/qp/xrcd.h"

using namespace verbs::soft;

namespace {

void release(abi::Qp* qp) {
  ibv_qp& ibv = qp->ibv;
  abi::of(ibv.context)->handles.remove(ibv.handle);
  pthread_cond_destroy(&ibv.cond);
  pthread_mutex_destroy(&ibv.mutex);
  delete qp;
}

int detach(abi::Qp* qp) {
  const int error = abi::control(qp->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    auto* first = static_cast<host::EventTarget*>(qp->nic->owner);
    if (first == &qp->events && !first->sharing) return nic.qps().destroy(qp->nic);
    // The QP is shared and has other handles.
    if (first == &qp->events) {
      qp->nic->owner = first->sharing;
    } else {
      while (first->sharing != &qp->events) first = first->sharing;
      first->sharing = qp->events.sharing;
    }
    return 0;
  });
  if (error != 0) return error;
  qp->events.async->forget(&qp->events);
  return 0;
}

void destroy_unacknowledged(void* object) {
  auto* qp = static_cast<abi::Qp*>(object);
  qp->adapter->multicast.detach_all(qp->nic);
  if (detach(qp) == 0) release(qp);
}

// Control calls of a QP also set ibv_qp.state, which programs read.
template <typename Call>
int control(abi::Qp* qp, Call&& call) {
  return abi::control(qp->ibv.context, [&](nic::Nic& nic, link::Nanos now) {
    const int error = call(nic, now);
    qp->ibv.state = qp->nic->state;
    return error;
  });
}

// Looks up the parts that the type of QP needs. False if one is missing or belongs to another context.
bool find_parts(ibv_context* context, ibv_pd* pd, ibv_xrcd* xrcd, const ibv_qp_init_attr& attr, nic::QpParts* parts) {
  if (attr.qp_type == IBV_QPT_XRC_RECV) {
    if (!abi::is_usable(xrcd, context)) return false;
    parts->xrcd = abi::of(xrcd)->nic;
    return true;
  }
  if (!abi::is_usable(pd, context) || !abi::is_usable(attr.send_cq, context)) return false;
  parts->pd = abi::of(pd)->nic;
  parts->send_cq = abi::of(attr.send_cq)->nic;
  if (attr.qp_type == IBV_QPT_XRC_SEND) return true;
  if (!abi::is_usable(attr.recv_cq, context)) return false;
  parts->recv_cq = abi::of(attr.recv_cq)->nic;
  if (!attr.srq) return true;
  // An XRC SRQ cannot be given to a QP: packets to a target QP name it.
  if (!abi::is_usable(attr.srq, context) || abi::of(attr.srq)->is_xrc) return false;
  parts->srq = abi::of(attr.srq)->nic;
  return true;
}

// Creates the object for a QP of the NIC; it is not in the handle table of its context yet.
std::unique_ptr<abi::Qp> new_handle(ibv_context* context, void* qp_context, ibv_qp_type type) {
  auto qp = std::make_unique<abi::Qp>();
  ibv_qp& ibv = qp->ibv;
  qp->adapter = abi::of(context)->adapter;
  qp->events.ibv = &ibv;
  qp->events.async = &abi::of(context)->async;
  ibv.context = context;
  ibv.qp_context = qp_context;
  ibv.qp_type = type;
  return qp;
}

ibv_qp* publish(std::unique_ptr<abi::Qp> qp) {
  ibv_qp& ibv = qp->ibv;
  pthread_mutex_init(&ibv.mutex, nullptr);
  pthread_cond_init(&ibv.cond, nullptr);
  abi::Handles::Users* users = ibv.pd ? abi::users_of(ibv.pd) : nullptr;
  ibv.handle = abi::of(ibv.context)->handles.add(qp.get(), destroy_unacknowledged, users);
  return &qp.release()->ibv;
}

}  // namespace

namespace verbs::soft::abi {

ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_xrcd* xrcd, ibv_qp_init_attr* attr) {
  nic::QpParts parts;
  if (!find_parts(context, pd, xrcd, *attr, &parts)) return null_with<ibv_qp>(EINVAL);
  std::unique_ptr<Qp> qp = new_handle(context, attr->qp_context, attr->qp_type);
  ibv_qp& ibv = qp->ibv;
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.qps().create(parts, attr, &qp->events, &qp->nic);
    if (failure == 0) ibv.qp_num = qp->nic->number;
    return failure;
  });
  if (error != 0) return null_with<ibv_qp>(error);
  qp->sq_sig_all = attr->sq_sig_all != 0;
  ibv.pd = parts.pd ? pd : nullptr;
  ibv.send_cq = parts.send_cq ? attr->send_cq : nullptr;
  ibv.recv_cq = parts.recv_cq ? attr->recv_cq : nullptr;
  ibv.srq = parts.srq ? attr->srq : nullptr;
  ibv.state = IBV_QPS_RESET;
  return publish(std::move(qp));
}

ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
  constexpr std::uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  if (!is_live(context) || (attr->comp_mask & kNeeded) != kNeeded || attr->qp_type != IBV_QPT_XRC_RECV ||
      !is_usable(attr->xrcd, context)) {
    return null_with<ibv_qp>(EINVAL);
  }
  if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED) return null_with<ibv_qp>(EOPNOTSUPP);
  void* qp_context = (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0 ? attr->qp_context : nullptr;
  std::unique_ptr<Qp> qp = new_handle(context, qp_context, IBV_QPT_XRC_RECV);
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    if (const int failure = nic.qps().find_target(of(attr->xrcd)->nic, attr->qp_num, &qp->nic)) return failure;
    auto* first = static_cast<host::EventTarget*>(qp->nic->owner);
    qp->events.sharing = first->sharing;
    first->sharing = &qp->events;
    qp->ibv.state = qp->nic->state;
    return 0;
  });
  if (error != 0) return null_with<ibv_qp>(error);
  qp->ibv.qp_num = attr->qp_num;
  return publish(std::move(qp));
}

}  // namespace verbs::soft::abi

extern "C" {

ibv_qp* soft_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) { return abi::create_qp(pd->context, pd, nullptr, attr); }

int soft_modify_qp(ibv_qp* ibv, ibv_qp_attr* attr, int mask) {
  abi::Qp* qp = abi::of(ibv);
  return control(qp, [&](nic::Nic& nic, link::Nanos) { return nic.qps().modify(qp->nic, attr, mask); });
}

int ibv_query_qp(ibv_qp* ibv, ibv_qp_attr* attr, int, ibv_qp_init_attr* init_attr) {
  if (!abi::is_live(ibv)) return EINVAL;
  abi::Qp* qp = abi::of(ibv);
  const int error = control(qp, [&](nic::Nic& nic, link::Nanos) {
    std::memset(attr, 0, sizeof *attr);
    std::memset(init_attr, 0, sizeof *init_attr);
    return nic.qps().query(qp->nic, attr, init_attr);
  });
  if (error != 0) return error;
  init_attr->qp_context = ibv->qp_context;
  init_attr->send_cq = ibv->send_cq;
  init_attr->recv_cq = ibv->recv_cq;
  init_attr->srq = ibv->srq;
  init_attr->qp_type = ibv->qp_type;
  init_attr->sq_sig_all = qp->sq_sig_all;
  return 0;
}

int soft_destroy_qp(ibv_qp* ibv) {
  abi::Qp* qp = abi::of(ibv);
  if (const int error = detach(qp)) return error;
  abi::wait_for_acknowledgements(*ibv, qp->events);
  release(qp);
  return 0;
}

// Data may be written out of order when packets are lost and retransmitted.
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }

int ibv_query_ece(ibv_qp*, ibv_ece* ece) {
  *ece = {};
  return EOPNOTSUPP;
}

int ibv_set_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }

}  // extern "C"
