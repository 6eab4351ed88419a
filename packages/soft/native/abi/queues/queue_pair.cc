#include "abi/queues/queue_pair.h"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "abi/model/extension.h"
#include "abi/objects/objects.h"
#include "abi/queues/events.h"
#include "abi/queues/flow.h"
#include "abi/queues/shared_receive.h"
#include "verbs_soft_extension.h"

using namespace verbs::soft;

namespace {

void release_qp(abi::Qp* qp) {
  ibv_qp& ibv = qp->ibv;
  abi::of(ibv.context)->handles.remove(&ibv);
  pthread_cond_destroy(&ibv.cond);
  pthread_mutex_destroy(&ibv.mutex);
  delete qp;
}

int detach_qp(abi::Qp* qp) {
  const int error = abi::control(qp->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    auto* first = static_cast<host::EventTarget*>(qp->nic->owner);
    if (first == &qp->events && !first->sharing) {
      const int failure = nic.qps().destroy(qp->nic);
      if (failure == 0) qp->live.end();
      if (failure != 0) {
        abi::explain_use(qp->ibv.context, nic, nic::Place::kDestroyQp, failure, qp->nic->groups + qp->nic->holders);
      }
      return failure;
    }
    qp->live.end();
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

void destroy_qp_unacknowledged(void* object) {
  auto* qp = static_cast<abi::Qp*>(object);
  abi::of(qp->ibv.context)->adapter->multicast.detach_all(qp->nic);
  if (detach_qp(qp) == 0) release_qp(qp);
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

// Looks up the parts that the type of QP needs. 0, or the errno of a part that is missing or belongs to another
// context.
int find_parts(abi::Uses& uses, ibv_context* context, ibv_pd* pd, ibv_xrcd* xrcd, const ibv_qp_init_attr& attr,
               nic::QpParts* parts) {
  const auto find = [&](auto* ibv, auto** part) {
    if (!ibv) return EINVAL;
    const int error = abi::use_with(uses, ibv, context, ENOENT);
    if (error == 0) *part = abi::of(ibv)->nic;
    return error;
  };
  if (attr.qp_type == IBV_QPT_XRC_RECV) return find(xrcd, &parts->xrcd);
  int error = find(pd, &parts->pd);
  if (parts->spread) return error;
  if (error == 0) error = find(attr.send_cq, &parts->send_cq);
  if (error != 0 || attr.qp_type == IBV_QPT_XRC_SEND) return error;
  error = find(attr.recv_cq, &parts->recv_cq);
  if (error != 0 || !attr.srq) return error;
  error = find(attr.srq, &parts->srq);
  // An XRC SRQ cannot be given to a QP: packets to a target QP name it.
  return error == 0 && abi::of(attr.srq)->is_xrc ? EINVAL : error;
}

// Creates the object for a QP of the NIC; it is not live yet.
std::unique_ptr<abi::Qp> new_object(ibv_context* context, void* qp_context, ibv_qp_type type) {
  auto qp = std::make_unique<abi::Qp>();
  ibv_qp& ibv = qp->ibv;
  qp->events.ibv = &ibv;
  qp->events.async = &abi::of(context)->async;
  ibv.context = context;
  ibv.qp_context = qp_context;
  ibv.qp_type = type;
  return qp;
}

ibv_qp* publish_qp(std::unique_ptr<abi::Qp> qp, abi::Handles::Place& place) {
  ibv_qp& ibv = qp->ibv;
  pthread_mutex_init(&ibv.mutex, nullptr);
  pthread_cond_init(&ibv.cond, nullptr);
  ibv.handle = place.handle();
  // Nothing is posted to a queue pair without queues.
  if (!qp->nic->spread) qp->live.begin(abi::of(ibv.context)->adapter, qp->nic);
  place.publish(ibv.pd ? abi::users_of(ibv.pd) : nullptr);
  return &qp.release()->ibv;
}

int query_qp(ibv_qp* ibv, ibv_qp_attr* attr, ibv_qp_init_attr* init_attr) {
  abi::Uses uses;
  if (const int error = uses.add(ibv)) return error;
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

bool says_no_more_than_status(nic::Reason reason) {
  return reason == nic::Reason::kPeerRefused || reason == nic::Reason::kNoReceiveAtPeer ||
         reason == nic::Reason::kNoAnswer || reason == nic::Reason::kBadResponse;
}

}  // namespace

namespace verbs::soft::abi {

ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_xrcd* xrcd, ibv_qp_init_attr* attr, const nic::Spread* spread) {
  Uses uses;
  nic::QpParts parts{.spread = spread};
  if (const int error = find_parts(uses, context, pd, xrcd, *attr, &parts)) {
    return null_with<ibv_qp>(refuse(context, nic::Place::kCreateQp, error, {nic::Reason::kQpParts}));
  }
  if (attr->qp_type == IBV_QPT_RAW_PACKET) {
    if (const int error = check_privilege(context)) {
      return null_with<ibv_qp>(refuse(context, nic::Place::kCreateQp, error, {nic::Reason::kRawPrivilege}));
    }
  }
  std::unique_ptr<Qp> qp = new_object(context, attr->qp_context, attr->qp_type);
  ibv_qp& ibv = qp->ibv;
  Handles::Place place(of(context)->handles, &ibv, Kind::kQp, destroy_qp_unacknowledged);
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
  return publish_qp(std::move(qp), place);
}

ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
  constexpr std::uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  Uses uses;
  if (uses.add(context) != 0 || (attr->comp_mask & kNeeded) != kNeeded || attr->qp_type != IBV_QPT_XRC_RECV ||
      use_with(uses, attr->xrcd, context) != 0) {
    return null_with<ibv_qp>(EINVAL);
  }
  if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED) return null_with<ibv_qp>(EOPNOTSUPP);
  void* qp_context = (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0 ? attr->qp_context : nullptr;
  std::unique_ptr<Qp> qp = new_object(context, qp_context, IBV_QPT_XRC_RECV);
  Handles::Place place(of(context)->handles, &qp->ibv, Kind::kQp, destroy_qp_unacknowledged);
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
  return publish_qp(std::move(qp), place);
}

}  // namespace verbs::soft::abi

extern "C" {

ibv_qp* soft_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  return verb([&] { return abi::create_qp(pd->context, pd, nullptr, attr); });
}

int soft_modify_qp(ibv_qp* ibv, ibv_qp_attr* attr, int mask) {
  return verb([&] {
    abi::Qp* qp = abi::of(ibv);
    return control(qp, [&](nic::Nic& nic, link::Nanos) { return nic.qps().modify(qp->nic, attr, mask); });
  });
}

int ibv_query_qp(ibv_qp* ibv, ibv_qp_attr* attr, int, ibv_qp_init_attr* init_attr) {
  return verb([&] { return query_qp(ibv, attr, init_attr); });
}

int soft_destroy_qp(ibv_qp* ibv) {
  return verb([&] {
    abi::Qp* qp = abi::of(ibv);
    if (const int error = detach_qp(qp)) return error;
    const auto is_acknowledged = [&] { return ibv->events_completed == qp->events.async_reported; };
    abi::release_acknowledged(*ibv, is_acknowledged, [&] { release_qp(qp); });
    return 0;
  });
}

int verbs_soft_why(ibv_context* context, std::uint32_t qp_num, int status, char* text, std::size_t size) {
  return contain_call(
      [&] {
        abi::Uses uses;
        if (const int error = uses.add(context)) return error;
        nic::ReasonEvent event;
        const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
          const auto* found = nic.reasons().find_last([&](const nic::ReasonEvent& each) {
            return each.qp == qp_num && static_cast<int>(each.status) == status;
          });
          if (found != nullptr) event = *found;
          return found != nullptr ? 0 : ENOENT;
        });
        if (error != 0) return error;
        const bool known_by_peer = event.peers.reason != nic::Reason::kNone;
        if (!known_by_peer && says_no_more_than_status(event.why.reason)) return ENOENT;
        const std::string sentence = nic::sentence_of(known_by_peer ? event.peers : event.why);
        std::snprintf(text, size, "%s%s", known_by_peer ? "at the peer's end " : "", sentence.c_str());
        return 0;
      },
      [](int error) { return error; });
}

// Data may be written out of order when packets are lost and retransmitted.
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }

int ibv_query_ece(ibv_qp*, ibv_ece* ece) {
  *ece = {};
  return failure<int>(EOPNOTSUPP);
}

int ibv_set_ece(ibv_qp*, ibv_ece*) { return failure<int>(EOPNOTSUPP); }

}  // extern "C"

// ibv_attach_mcast and ibv_detach_mcast.

using namespace verbs::soft;

// The LID has a meaning on InfiniBand only.
extern "C" {

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(qp)) return error;
    if (!gid) return abi::refuse(qp->context, nic::Place::kAttachMcast, EINVAL, {nic::Reason::kNoGroup});
    return abi::of(qp->context)->adapter->multicast.attach(abi::of(qp)->nic, wire::Gid::from_bytes(gid->raw));
  });
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(qp)) return error;
    if (!gid) return abi::refuse(qp->context, nic::Place::kDetachMcast, EINVAL, {nic::Reason::kNoGroup});
    return abi::of(qp->context)->adapter->multicast.detach(abi::of(qp)->nic, wire::Gid::from_bytes(gid->raw));
  });
}

}  // extern "C"
