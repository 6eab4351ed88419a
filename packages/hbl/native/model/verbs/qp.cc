// hbldv_modify_qp and hbldv_query_qp, and the ordinary verbs of queue pairs.
#include "model/verbs/qp.h"

#include <algorithm>
#include <bit>
#include <cerrno>

#include "model/verbs/encap.h"

namespace verbs::hbl::model {

namespace {

constexpr std::uint32_t kRendezvous = HBLDV_WQ_RECV_RDV | HBLDV_WQ_READ_RDV | HBLDV_WQ_SEND_RDV;
constexpr std::uint32_t kAllWqTypes = kRendezvous | HBLDV_WQ_WRITE | HBLDV_WQ_READ_RDV_ENDP;
constexpr std::uint8_t kMinPriority = 1, kMaxPriority = 3;
// The number of a gaudi2's queue pair is the NIC's, and above it a count of its transitions to INIT.
constexpr int kGenerationShift = 20;
constexpr std::uint32_t kNicNumber = (1u << kGenerationShift) - 1;

hbldv_qp_attr defaults_for(ibv_qp_state state) {
  hbldv_qp_attr attr{};
  attr.wq_type = HBLDV_WQ_WRITE;
  if (state == IBV_QPS_RTS) attr.priority = kMinPriority;
  return attr;
}

int check_wq_type(const Context& context, std::uint32_t type) {
  if (type == 0 || (type & ~kAllWqTypes) != 0) return EINVAL;
  for (const std::uint32_t alone : {HBLDV_WQ_READ_RDV_ENDP, HBLDV_WQ_SEND_RDV}) {
    if ((type & alone) != 0 && type != alone) return EINVAL;
  }
  if ((type & HBLDV_WQ_RECV_RDV) != 0 && (type & HBLDV_WQ_READ_RDV) != 0) return EINVAL;
  return context.profile == Profile::kGaudi2 && std::popcount(type) != 1 ? EINVAL : 0;
}

// The tunnel of the encapsulation that the attributes name; nullptr: none. A gaudi rejects a number that is not
// allocated. A gaudi2 does not check it; the model then uses plain RoCE v2.
int find_tunnel(Context& context, std::uint32_t port_num, const hbldv_qp_attr& attr, const verbs_soft_tunnel** tunnel) {
  *tunnel = nullptr;
  if ((attr.caps & HBLDV_QP_CAP_ENCAP) == 0) return attr.encap_num != 0 ? EINVAL : 0;
  if (const Encap* encap = find_encap(context, port_num, attr.encap_num)) {
    *tunnel = encap->tunnel;
    return 0;
  }
  return context.profile == Profile::kGaudi ? EINVAL : 0;
}

int check_rts(const Qp& qp, const hbldv_qp_attr& attr) {
  if (attr.priority < kMinPriority || attr.priority > kMaxPriority) return EINVAL;
  if ((qp.wq_type & kRendezvous) == 0) return 0;
  return std::has_single_bit(attr.dest_wq_size) && attr.dest_wq_size >= 4 * std::bit_ceil(qp.max_send_wr) ? 0 : EINVAL;
}

// Maps the work queues that the program writes entries into. They hold max_send_wr entries, which must not exceed the
// port's work queue array.
int map_queues(const Context& context, Qp& qp) {
  const Port& port = context.ports[qp.port_num - 1];
  if (port.wqes == 0) return 0;
  const std::uint32_t entries = std::bit_ceil(std::max(1u, qp.max_send_wr));
  if (entries > port.wqes) return EINVAL;
  const std::uint32_t size = qp.granularity == HBLDV_SWQE_GRAN_64B ? 64 : 32;
  if (!qp.send_queue.allocate(std::size_t{entries} * size)) return ENOMEM;
  if (!qp.receive_queue.allocate(std::size_t{entries} * 32)) return ENOMEM;
  qp.entries = entries;
  qp.next = qp.stride = 0;
  return 0;
}

void unmap_queues(Qp& qp) {
  qp.entries = 0;
  qp.send_queue.reset();
  qp.receive_queue.reset();
}

void forget_number(Qp& qp) {
  qp.number = 0;
  unmap_queues(qp);
}

int to_init(Context& context, Qp& qp, ibv_qp_attr& attr, int mask, const hbldv_qp_attr& hbl) {
  if ((mask & IBV_QP_PORT) != 0 && !context.has_port(attr.port_num)) return EINVAL;
  if (const int error = check_wq_type(context, hbl.wq_type)) return error;
  if (static_cast<unsigned>(hbl.wq_granularity) > HBLDV_SWQE_GRAN_64B) return EINVAL;
  if (const int error = context.base.modify_qp(qp.ibv, &attr, mask)) return error;
  if ((mask & IBV_QP_PORT) != 0) qp.port_num = attr.port_num;
  qp.wq_type = hbl.wq_type;
  qp.granularity = hbl.wq_granularity;
  qp.number = qp.ibv->qp_num;
  if (context.profile == Profile::kGaudi2) qp.number |= (qp.generation++ & 0xf) << kGenerationShift;
  return 0;
}

// Translates what the NIC does not have: a path MTU of 8192 bytes becomes its largest, and a gaudi2's number the NIC's.
void translate(const Context& context, ibv_qp_attr& attr) {
  if (attr.path_mtu == static_cast<ibv_mtu>(HBL_IB_MTU_8192)) attr.path_mtu = IBV_MTU_4096;
  if (context.profile == Profile::kGaudi2) attr.dest_qp_num &= kNicNumber;
}

int to_rtr(Context& context, Qp& qp, ibv_qp_attr attr, int mask, const hbldv_qp_attr& hbl) {
  const verbs_soft_tunnel* tunnel = nullptr;
  if (const int error = find_tunnel(context, qp.port_num, hbl, &tunnel)) return error;
  if (context.profile == Profile::kGaudi2 && (mask & IBV_QP_PATH_MTU) != 0 && attr.path_mtu < IBV_MTU_1024) {
    return EINVAL;
  }
  translate(context, attr);
  if (const int error = soft()->set_qp_tunnel(qp.ibv, VERBS_SOFT_TUNNEL_RESPONSES, tunnel)) return error;
  if (const int error = context.base.modify_qp(qp.ibv, &attr, mask)) {
    soft()->set_qp_tunnel(qp.ibv, VERBS_SOFT_TUNNEL_RESPONSES, nullptr);
    return error;
  }
  qp.local_key = hbl.local_key;
  return 0;
}

int to_rts(Context& context, Qp& qp, ibv_qp_attr& attr, int mask, const hbldv_qp_attr& hbl) {
  if (const int error = check_rts(qp, hbl)) return error;
  const verbs_soft_tunnel* tunnel = nullptr;
  if (const int error = find_tunnel(context, qp.port_num, hbl, &tunnel)) return error;
  if (const int error = map_queues(context, qp)) return error;
  // The responder's tunnel was set in RTR.
  int error = soft()->set_qp_tunnel(qp.ibv, VERBS_SOFT_TUNNEL_REQUESTS, tunnel);
  if (error == 0) error = context.base.modify_qp(qp.ibv, &attr, mask);
  if (error != 0) {
    unmap_queues(qp);  // a doorbell for them would be that of a queue pair which cannot send yet
    return error;
  }
  qp.remote_key = hbl.remote_key;
  return 0;
}

// Whether libhbl has default attributes: it looks at the value of the state, also where the mask does not have it.
bool has_defaults(ibv_qp_state state) { return state == IBV_QPS_INIT || state == IBV_QPS_RTR || state == IBV_QPS_RTS; }

int modify_locked(Context& context, Qp& qp, ibv_qp_attr& attr, int mask, const hbldv_qp_attr* given) {
  if (context.profile == Profile::kGaudi2 && !given && !has_defaults(attr.qp_state)) return EINVAL;
  const ibv_qp_state old = qp.ibv->state;
  // Without a state transition, and from RTS to RTS, only the attributes of ordinary verbs change.
  const bool moves = (mask & IBV_QP_STATE) != 0;
  if (!moves || (attr.qp_state == IBV_QPS_RTS && old == IBV_QPS_RTS && !given)) {
    return context.base.modify_qp(qp.ibv, &attr, mask);
  }
  const hbldv_qp_attr hbl = given ? *given : defaults_for(attr.qp_state);
  int error = 0;
  switch (attr.qp_state) {
    case IBV_QPS_INIT:
      return to_init(context, qp, attr, mask, hbl);
    case IBV_QPS_RTR:
      error = to_rtr(context, qp, attr, mask, hbl);
      break;
    case IBV_QPS_RTS:
      // From SQD or SQE a queue pair keeps its Gaudi attributes.
      if (old != IBV_QPS_RTR) return context.base.modify_qp(qp.ibv, &attr, mask);
      error = to_rts(context, qp, attr, mask, hbl);
      break;
    case IBV_QPS_RESET:
      error = context.base.modify_qp(qp.ibv, &attr, mask);
      if (error != 0) return error;
      expect_no_more(context, qp, qp.ibv->send_cq);
      soft()->set_qp_tunnel(qp.ibv, VERBS_SOFT_TUNNEL_REQUESTS, nullptr);
      soft()->set_qp_tunnel(qp.ibv, VERBS_SOFT_TUNNEL_RESPONSES, nullptr);
      forget_number(qp);
      return 0;
    case IBV_QPS_ERR:
      return context.base.modify_qp(qp.ibv, &attr, mask);
    default:
      // A gaudi2's library has no other state.
      return context.profile == Profile::kGaudi2 ? EINVAL : context.base.modify_qp(qp.ibv, &attr, mask);
  }
  if (error != 0 && context.profile == Profile::kGaudi2) {
    // The kernel moves the queue pair back to RESET; the library keeps the old state.
    ibv_qp_attr reset{};
    reset.qp_state = IBV_QPS_RESET;
    context.base.modify_qp(qp.ibv, &reset, IBV_QP_STATE);
    qp.ibv->state = old;
  }
  return error;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  Context* context = context_of(pd->context);
  const std::lock_guard guard(context->mutex);
  if (context->profile == Profile::kGaudi2 && attr->qp_type != IBV_QPT_RC) return null_with<ibv_qp>(EOPNOTSUPP);
  Entry<decltype(context->qps)> qp(std::make_unique<Qp>());
  ibv_qp* ibv = context->base.create_qp(pd, attr);
  if (!ibv) return nullptr;
  qp.object().ibv = ibv;
  qp.object().max_send_wr = attr->cap.max_send_wr;  // rounded up by the NIC
  qp.add(context->qps, ibv);
  return ibv;
}

int modify_qp(ibv_qp* verbs, ibv_qp_attr* attr, int mask) { return model::hbldv_modify_qp(verbs, attr, mask, nullptr); }

int destroy_qp(ibv_qp* verbs) {
  Context* context = context_of(verbs->context);
  const ibv_cq* const send_cq = verbs->send_cq;
  std::unique_ptr<Qp> qp;
  {
    // Remove it from the worker first. Destroying waits until events are acknowledged, so not under the lock.
    const std::lock_guard guard(context->mutex);
    const auto found = context->qps.find(verbs);
    if (found == context->qps.end()) return context->base.destroy_qp(verbs);
    qp = std::move(found->second);
    context->qps.erase(found);
  }
  const int error = context->base.destroy_qp(verbs);
  const std::lock_guard guard(context->mutex);
  if (error == 0) {
    expect_no_more(*context, *qp, send_cq);
  } else {
    context->qps.emplace(verbs, std::move(qp));
  }
  return error;
}

}  // namespace

void install_qp_verbs(verbs_soft_verbs& control) {
  control.create_qp = create_qp;
  control.modify_qp = modify_qp;
  control.destroy_qp = destroy_qp;
}

int hbldv_modify_qp(ibv_qp* verbs, ibv_qp_attr* attr, int attr_mask, hbldv_qp_attr* hbl_attr) {
  if (!verbs) return EINVAL;
  Context* context = context_of(verbs->context);
  if (!context) return EOPNOTSUPP;
  if (!attr) return EINVAL;
  const std::lock_guard guard(context->mutex);
  Qp* qp = context->find_qp(verbs);
  return qp ? modify_locked(*context, *qp, *attr, attr_mask, hbl_attr) : EINVAL;
}

int hbldv_query_qp(ibv_qp* verbs, hbldv_query_qp_attr* attr) {
  if (!verbs) return EINVAL;
  Context* context = context_of(verbs->context);
  if (!context) return EOPNOTSUPP;
  if (!attr) return EINVAL;
  const std::lock_guard guard(context->mutex);
  const Qp* qp = context->find_qp(verbs);
  if (!qp) return EINVAL;
  *attr = {qp->number, qp->send_queue.as(), qp->receive_queue.as()};
  return 0;
}

}  // namespace verbs::hbl::model
