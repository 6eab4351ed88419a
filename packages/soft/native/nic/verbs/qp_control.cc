#include "nic/verbs/qp_control.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <utility>

#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/core/completion.h"
#include "nic/core/explanation.h"
#include "nic/core/rendezvous.h"
#include "nic/verbs/qp_transitions.h"

namespace verbs::soft::nic {
namespace {

bool is_complete(const QpParts& parts, ibv_qp_type type) {
  if (type == IBV_QPT_XRC_RECV) return parts.xrcd != nullptr;
  if (parts.spread != nullptr) return type == IBV_QPT_RAW_PACKET && parts.pd != nullptr;
  return parts.pd != nullptr && parts.send_cq != nullptr && (parts.recv_cq != nullptr || type == IBV_QPT_XRC_SEND);
}

void set_parts(Qp& qp, const QpParts& parts, ibv_qp_type type) {
  if (type == IBV_QPT_XRC_RECV) {
    qp.xrcd = parts.xrcd;
    return;
  }
  qp.pd = parts.pd;
  qp.remote_pd = parts.pd;
  qp.send_cq = parts.send_cq;
  if (type == IBV_QPT_XRC_SEND) return;
  qp.recv_cq = parts.recv_cq;
  qp.srq = parts.srq;
}

// Adds the QP to the users of its parts, or removes it from them.
void count_user(const Qp& qp, int users) {
  const auto add = [users](auto* part) {
    if (part != nullptr) part->users += static_cast<std::uint32_t>(users);
  };
  add(qp.pd);
  add(qp.send_cq);
  add(qp.recv_cq);
  add(qp.srq);
  add(qp.xrcd);
}

// Checks `init` against the limits and lays out the queues. Writes back the capacities that the QP has.
int lay_out(Core& core, ibv_qp_init_attr& init, Qp& qp) {
  const Limits& limits = core.config.limits;
  ibv_qp_cap& cap = init.cap;
  const bool initiator = init.qp_type == IBV_QPT_XRC_SEND;
  const bool target = init.qp_type == IBV_QPT_XRC_RECV;
  const bool raw = init.qp_type == IBV_QPT_RAW_PACKET && core.config.steering != nullptr;
  const auto refuse = [&](int error, const Why& why) {
    explain_call(core, Place::kCreateQp, error, why);
    return error;
  };
  if (init.qp_type != IBV_QPT_RC && init.qp_type != IBV_QPT_UC && init.qp_type != IBV_QPT_UD && !initiator && !target &&
      !raw) {
    return refuse(EOPNOTSUPP, {Reason::kQpType, {static_cast<std::uint64_t>(init.qp_type)}});
  }
  const auto wr_limit = static_cast<std::uint32_t>(limits.max_qp_wr);
  const auto sge_limit = static_cast<std::uint32_t>(limits.max_sge);
  // A QP with a shared receive queue has no receive queue, whatever `cap` says (ibv_create_qp(3)). An XRC initiator has
  // no receive queue either, and a target has no queue at all.
  if (target) cap = {};
  if (qp.srq != nullptr || initiator) cap.max_recv_wr = cap.max_recv_sge = 0;
  if (cap.max_send_wr > wr_limit || cap.max_recv_wr > wr_limit || cap.max_send_sge > sge_limit ||
      cap.max_recv_sge > sge_limit || cap.max_inline_data > static_cast<std::uint32_t>(limits.max_inline_data)) {
    const std::uint32_t sges = std::max(cap.max_send_sge, cap.max_recv_sge);
    return refuse(EINVAL, {Reason::kQpLimit, {cap.max_send_wr, cap.max_recv_wr, sges, cap.max_inline_data}});
  }
  qp.matches_tags = qp.srq != nullptr && qp.srq->tags != nullptr;
  if (qp.matches_tags && (init.qp_type != IBV_QPT_RC || cap.max_send_wr != 0 || qp.srq->pd != qp.pd)) {
    return refuse(EINVAL, {Reason::kTagMatchingQp, {static_cast<std::uint64_t>(init.qp_type), cap.max_send_wr}});
  }
  // The room of a request's scatter list holds inline data as well. soft-RoCE grants it unasked, and programs rely on
  // it (rdma_xclient).
  const auto room = static_cast<std::uint32_t>(cap.max_send_sge * sizeof(ibv_sge));
  cap.max_inline_data =
      std::max(cap.max_inline_data, std::min(room, static_cast<std::uint32_t>(limits.max_inline_data)));
  qp.type = init.qp_type;
  qp.transport = transport_of(init.qp_type);
  qp.sq_sig_all = init.sq_sig_all != 0;
  if (qp.matches_tags) {
    cap.max_send_sge = cap.max_inline_data = 0;
    qp.sq.allocate(kMostRendezvous, kMaxTagSges, kRendezvousHeadersSize, false);
  } else {
    qp.sq.allocate(cap.max_send_wr, cap.max_send_sge, cap.max_inline_data, init.qp_type == IBV_QPT_UD);
    cap.max_send_wr = qp.sq.capacity();
  }
  qp.rq.allocate(cap.max_recv_wr, cap.max_recv_sge);
  cap.max_recv_wr = qp.rq.capacity();
  qp.attr.cap = cap;
  qp.attr.path_mtu = IBV_MTU_256;
  qp.attr.port_num = 1;
  qp.mtu = mtu_bytes(core.ports[1].active_mtu());
  return 0;
}

constexpr std::uint32_t kMaxQpn = 0xffffff;

// Attributes with one limit, from 0 on.
struct Limited {
  int bit;
  std::uint32_t given;
  std::uint32_t most;
};

// With IBV_QP_AV, `path` becomes the way to the peer.
int check_attributes(Core& core, const Qp& qp, const ibv_qp_attr& attr, int mask, wire::Path* path, Why* why) {
  const Limits& limits = core.config.limits;
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  const auto refuse = [why](Reason reason, std::array<std::uint64_t, 4> values = {}, int error = EINVAL) {
    *why = {reason, values};
    return error;
  };
  const auto no_port = [&](int bit, std::uint8_t number) {
    return refuse(Reason::kNoSuchPort, {static_cast<std::uint32_t>(bit), number, core.ports.size()});
  };
  if (has(IBV_QP_PORT) && core.ports.find(attr.port_num) == nullptr) return no_port(IBV_QP_PORT, attr.port_num);
  if (has(IBV_QP_PKEY_INDEX) && attr.pkey_index != 0) return refuse(Reason::kPkeyIndex, {attr.pkey_index});
  if (has(IBV_QP_PATH_MTU)) {
    const ibv_mtu active = core.port_of(qp).active_mtu();
    if (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > active) {
      return refuse(Reason::kLargeMtu, {static_cast<std::uint64_t>(attr.path_mtu), static_cast<std::uint64_t>(active)});
    }
  }
  for (const Limited& each : std::initializer_list<Limited>{
           {IBV_QP_DEST_QPN, attr.dest_qp_num, kMaxQpn},
           {IBV_QP_TIMEOUT, attr.timeout, 31},
           {IBV_QP_RETRY_CNT, attr.retry_cnt, 7},
           {IBV_QP_RNR_RETRY, attr.rnr_retry, 7},
           {IBV_QP_MIN_RNR_TIMER, attr.min_rnr_timer, 31},
           {IBV_QP_MAX_QP_RD_ATOMIC, attr.max_rd_atomic, static_cast<std::uint32_t>(limits.max_qp_init_rd_atom)},
           {IBV_QP_MAX_DEST_RD_ATOMIC, attr.max_dest_rd_atomic, static_cast<std::uint32_t>(limits.max_qp_rd_atom)}}) {
    if (!has(each.bit) || each.given <= each.most) continue;
    return refuse(Reason::kLargeAttribute, {each.given, static_cast<std::uint32_t>(each.bit), each.most});
  }
  // The kernel rejects alternate paths on RoCE, so the path always counts as migrated.
  if (has(IBV_QP_ALT_PATH) || (has(IBV_QP_PATH_MIG_STATE) && attr.path_mig_state != IBV_MIG_MIGRATED)) {
    return refuse(Reason::kNoAlternatePath);
  }
  if (has(IBV_QP_RATE_LIMIT) && attr.rate_limit != 0) return refuse(Reason::kNoRateLimit, {}, EOPNOTSUPP);
  if (!has(IBV_QP_AV)) return 0;
  // Without IBV_QP_PORT in this call, the port is the one that the move to INIT named.
  Port* port = core.ports.find(has(IBV_QP_PORT) ? attr.port_num : qp.attr.port_num);
  if (port == nullptr || core.ports.find(attr.ah_attr.port_num) == nullptr) {
    return no_port(IBV_QP_AV, attr.ah_attr.port_num);
  }
  if (const int error = port->resolve(attr.ah_attr, path, why)) return error;
  if (path->dgid.is_multicast()) return refuse(Reason::kGroupAsPeer);
  return port->use(path, why);
}

void store(Qp& qp, const ibv_qp_attr& attr, int mask) {
  ibv_qp_attr& to = qp.attr;
  if ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0) qp.sqd_notify = attr.en_sqd_async_notify != 0;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) to.qp_access_flags = attr.qp_access_flags;
  if ((mask & IBV_QP_PKEY_INDEX) != 0) to.pkey_index = attr.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) to.port_num = attr.port_num;
  if ((mask & IBV_QP_QKEY) != 0) to.qkey = attr.qkey;
  if ((mask & IBV_QP_AV) != 0) {
    to.ah_attr = attr.ah_attr;
    to.ah_attr.grh.flow_label &= kFlowLabelBits;
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) to.path_mtu = attr.path_mtu;
  if ((mask & IBV_QP_TIMEOUT) != 0) to.timeout = attr.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) to.retry_cnt = attr.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) to.rnr_retry = attr.rnr_retry;
  if ((mask & IBV_QP_RQ_PSN) != 0) to.rq_psn = attr.rq_psn & kPsnMask;
  if ((mask & IBV_QP_SQ_PSN) != 0) to.sq_psn = attr.sq_psn & kPsnMask;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) to.max_rd_atomic = attr.max_rd_atomic;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) to.max_dest_rd_atomic = attr.max_dest_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) to.min_rnr_timer = attr.min_rnr_timer;
  if ((mask & IBV_QP_DEST_QPN) != 0) to.dest_qp_num = attr.dest_qp_num;
}

// Allocates what the new attributes need, before anything changes.
void allocate(Qp& qp, const ibv_qp_attr& attr, int mask) {
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) qp.req.outstanding.reserve(attr.max_rd_atomic + 1u);  // and the probe
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) == 0) return;
  ResponseQueue responses;
  responses.allocate(attr.max_dest_rd_atomic);
  qp.resp.replay_cache.allocate(attr.max_dest_rd_atomic);
  qp.resp.responses = std::move(responses);
}

// Sets up the requester and the responder by the new attributes.
void apply(Core& core, Qp& qp, int mask, const wire::Path& path) {
  Port& port = core.port_of(qp);
  if ((mask & IBV_QP_AV) != 0) {
    qp.path = path;
    qp.path.source_port = port.source_port(qp.path.flow_label, qp.number, qp.attr.dest_qp_num);
    qp.headers = wire::NetworkHeaders(qp.path);
  }
  if ((mask & (IBV_QP_AV | IBV_QP_PORT | IBV_QP_DEST_QPN)) != 0) qp.neighbourhood = 0;
  // An adapter's port has the MTU of its one network interface. Here the way decides, on both ends alike.
  if ((mask & IBV_QP_PATH_MTU) != 0) qp.mtu = std::min<std::uint32_t>(mtu_bytes(qp.attr.path_mtu), qp.path.mtu);
  if ((mask & IBV_QP_RQ_PSN) != 0) qp.resp.expected_psn = qp.attr.rq_psn;
  if ((mask & IBV_QP_RETRY_CNT) != 0) qp.req.retries_left = qp.attr.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) qp.req.rnr_retries_left = qp.attr.rnr_retry;
  if ((mask & IBV_QP_SQ_PSN) != 0) {
    qp.req.next_psn = qp.req.send_psn = qp.req.max_psn = qp.req.una_psn = qp.attr.sq_psn;
  }
}

// The request of an SRQ whose message is not complete makes no completion any more.
void give_back_unfinished(Qp& qp) {
  abandon_unexpected(qp);
  if (qp.recv.srq != nullptr && !qp.recv.tagged) ++qp.recv.srq->queue.released;
}

void reset(Core& core, Qp& qp) {
  revoke_all_references(core, qp);
  core.timers.cancel(qp);
  core.active.remove(qp);
  // The application would take its old completions for new ones.
  if (qp.send_cq != nullptr) qp.send_cq->clean(qp.number);
  if (qp.recv_cq != nullptr && qp.recv_cq != qp.send_cq) qp.recv_cq->clean(qp.number);
  qp.sq.clear();
  qp.rq.clear();
  give_back_unfinished(qp);
  const std::uint32_t position = qp.sq.head;
  qp.req = RequesterState{};
  qp.req.position = position;
  qp.resp = ResponderState{};
  qp.recv = {};
  const ibv_qp_cap cap = qp.attr.cap;
  qp.attr = {};
  qp.attr.cap = cap;
  qp.attr.path_mtu = IBV_MTU_256;
  qp.attr.port_num = 1;
  qp.sqd_notify = qp.draining = false;
}

}  // namespace

int QpControl::create(const QpParts& parts, ibv_qp_init_attr* attr, void* owner, Qp** qp) {
  if (!is_complete(parts, attr->qp_type)) {
    explain_call(core_, Place::kCreateQp, EINVAL, {Reason::kQpParts});
    return EINVAL;
  }
  auto made = std::make_unique<Qp>();
  set_parts(*made, parts, attr->qp_type);
  made->owner = owner;
  if (parts.spread != nullptr) made->spread = std::make_unique<Spread>(*parts.spread);
  if (const int error = lay_out(core_, *attr, *made)) return error;
  Qp* raw = made.get();
  if (raw->srq != nullptr) raw->srq_sges.resize(raw->srq->queue.max_sge());
  if (raw->xrcd != nullptr) raw->srq_sges.resize(static_cast<std::size_t>(core_.config.limits.max_srq_sge));
  NumberSource* const numbers = core_.config.numbers;
  if (numbers != nullptr && !numbers->extend_to(core_.qps.next_new())) return ENOMEM;
  core_.timers.make_room(core_.qps.size() + 1);
  const bool first_of_frames = raw->type == IBV_QPT_RAW_PACKET && core_.raw_qps == 0;
  if (first_of_frames) core_.config.steering->use(true);
  const std::uint32_t index = core_.qps.insert(std::move(made));
  if (index == 0) {
    if (first_of_frames) core_.config.steering->use(false);
    const auto limit = static_cast<std::uint64_t>(core_.config.limits.max_qp);
    explain_call(core_, Place::kCreateQp, ENOMEM, {Reason::kObjectLimit, {limit}});
    return ENOMEM;
  }
  raw->number = index;
  if (raw->type == IBV_QPT_RAW_PACKET) ++core_.raw_qps;
  if (raw->spread != nullptr) ++raw->spread->table->users;
  count_user(*raw, 1);
  *qp = raw;
  return 0;
}

namespace {

// Whether the queue pair may go to state `to` with these attributes.
int check_change(Core& core, const Qp& qp, ibv_qp_state to, const ibv_qp_attr& attr, int mask, wire::Path* path,
                 Why* why) {
  if ((mask & IBV_QP_CUR_STATE) != 0 && attr.cur_qp_state != qp.state) {
    *why = {Reason::kOtherState, {attr.cur_qp_state, qp.state}};
    return EINVAL;
  }
  if (const int error = check_transition(qp.type, qp.state, to, mask, why)) return error;
  // A send queue that drains must finish first (IBTA 10.3.1.5).
  if (qp.draining && (mask & IBV_QP_STATE) != 0 && to != IBV_QPS_RESET && to != IBV_QPS_ERR) {
    *why = {Reason::kDraining};
    return EINVAL;
  }
  return check_attributes(core, qp, attr, mask, path, why);
}

}  // namespace

int QpControl::modify(Qp* modified, const ibv_qp_attr* attributes, int attr_mask) {
  Qp& qp = *modified;
  if (qp.spread != nullptr) return EOPNOTSUPP;
  const int mask = applicable_attributes(qp.type, attr_mask);
  const ibv_qp_attr& attr = *attributes;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr.qp_state : qp.state;
  wire::Path path;
  Why why;
  if (const int error = check_change(core_, qp, to, attr, mask, &path, &why)) {
    explain_call(core_, Place::kModifyQp, error, why, &qp);
    return error;
  }

  if (to == IBV_QPS_RESET) {
    reset(core_, qp);
  } else if (to == IBV_QPS_ERR) {
    enter_error(core_, qp);
  } else {
    allocate(qp, attr, mask);
    store(qp, attr, mask);
    apply(core_, qp, mask, path);
  }
  if (to != qp.state) qp.draining = to == IBV_QPS_SQD;
  qp.state = qp.attr.qp_state = to;
  if (to == IBV_QPS_RTR && qp.type == IBV_QPT_UD) core_.port_of(qp).receive_datagrams();
  // Posted requests may be sent now, or the queue may be drained already.
  if (qp.may_send()) core_.active.add(qp);
  return 0;
}

int QpControl::query(const Qp* qp, ibv_qp_attr* attr, ibv_qp_init_attr* init_attr) const {
  *attr = qp->attr;
  attr->qp_state = attr->cur_qp_state = qp->state;
  attr->path_mig_state = IBV_MIG_MIGRATED;
  attr->sq_psn = qp->req.next_psn;
  attr->rq_psn = qp->resp.expected_psn;
  attr->sq_draining = qp->draining ? 1 : 0;
  init_attr->cap = qp->attr.cap;
  init_attr->qp_type = qp->type;
  init_attr->sq_sig_all = qp->sq_sig_all ? 1 : 0;
  return 0;
}

int QpControl::destroy(Qp* qp) {
  if (qp->groups > 0 || qp->holders > 0) return EBUSY;
  revoke_all_references(core_, *qp);
  core_.timers.remove(*qp);
  core_.active.remove(*qp);
  core_.mws.unbind_all(*qp);
  if (qp->counters != nullptr) {
    for (CompletionCounter* counter : qp->counters->by_operation) {
      if (counter != nullptr) --counter->queue_pairs;
    }
  }
  give_back_unfinished(*qp);
  if (qp->send_cq != nullptr) qp->send_cq->forget_qp(qp->number);
  if (qp->recv_cq != nullptr && qp->recv_cq != qp->send_cq) qp->recv_cq->forget_qp(qp->number);
  count_user(*qp, -1);
  if (qp->spread != nullptr) --qp->spread->table->users;
  const bool last_of_frames = qp->type == IBV_QPT_RAW_PACKET && --core_.raw_qps == 0;
  erase(core_.qps, qp->number);
  if (last_of_frames) core_.config.steering->use(false);
  return 0;
}

int QpControl::attach_counter(Qp* qp, CompletionCounter* counter, std::uint32_t mask) {
  if ((mask & ~CompletionCounter::kAll) != 0) return EOPNOTSUPP;
  if (qp->state != IBV_QPS_RESET && qp->state != IBV_QPS_INIT) return EINVAL;
  if (qp->counters == nullptr) qp->counters = std::make_unique<AttachedCounters>();
  auto& all = qp->counters->by_operation;
  for (std::size_t operation = 0; operation < all.size(); ++operation) {
    if ((mask >> operation & 1) != 0 && all[operation] != nullptr) return EINVAL;
  }
  for (std::size_t operation = 0; operation < all.size(); ++operation) {
    if ((mask >> operation & 1) == 0) continue;
    all[operation] = counter;
    ++counter->queue_pairs;
  }
  return 0;
}

int QpControl::find_target(const Xrcd* xrcd, std::uint32_t number, Qp** qp) const {
  Qp* found = core_.qps.find(number);
  if (found == nullptr || found->xrcd != xrcd) return EINVAL;
  *qp = found;
  return 0;
}

int QpControl::renumber(Qp* qp, std::uint32_t number) {
  constexpr std::uint32_t kLastQpn = 0xfffffe;  // the one after it is the multicast number
  const auto limit = static_cast<std::uint32_t>(core_.config.limits.max_qp);
  if (number < kFirstQpn || number - kFirstQpn < limit || number > kLastQpn) return EINVAL;
  if (qp->state != IBV_QPS_RESET) return EINVAL;
  if (core_.qps.find(number) != nullptr) return EADDRINUSE;
  NumberSource* const numbers = core_.config.numbers;
  if (const int error = numbers != nullptr ? numbers->choose(number) : 0) return error;
  if (!core_.qps.renumber(qp->number, number)) return EADDRINUSE;
  qp->number = number;
  return 0;
}

int QpControl::set_source_port(Qp* qp, std::uint16_t port) {
  const bool connected = qp->type == IBV_QPT_RC || qp->type == IBV_QPT_UC;
  if (!connected || qp->state != IBV_QPS_RTS) return EINVAL;
  if (core_.port_of(*qp).transmitter().fixed_source_port() != 0) return EOPNOTSUPP;
  qp->path.source_port = port;
  qp->headers = wire::NetworkHeaders(qp->path);
  return 0;
}

void QpControl::set_tunnel(Qp* qp, bool requests, std::shared_ptr<const wire::Tunnel> tunnel) {
  (requests ? qp->request_tunnel : qp->response_tunnel) = std::move(tunnel);
  qp->neighbourhood = 0;
}

int QpControl::set_self_loopback(Qp* qp, bool allowed) {
  if (qp->type != IBV_QPT_RAW_PACKET) return EINVAL;
  qp->self_loopback = allowed;
  return 0;
}

}  // namespace verbs::soft::nic
