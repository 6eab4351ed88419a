#include "nic/objects/qp/qp.h"

#include <cerrno>

#include "nic/device/nic_impl.h"
#include "nic/verbs/modify_qp.h"

namespace verbs::soft::nic {

namespace {

bool complete(const QpParts& parts, ibv_qp_type type) {
  if (type == IBV_QPT_XRC_RECV) return parts.xrcd != nullptr;
  return parts.pd != nullptr && parts.send_cq != nullptr && (parts.recv_cq != nullptr || type == IBV_QPT_XRC_SEND);
}

void take_parts(Qp& qp, const QpParts& parts, ibv_qp_type type) {
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

// Adds the QP to the users of what it is made of, or takes it from them.
void count(const Qp& qp, int users) {
  const auto add = [users](auto* part) {
    if (part != nullptr) part->users += static_cast<std::uint32_t>(users);
  };
  add(qp.pd);
  add(qp.send_cq);
  add(qp.recv_cq);
  add(qp.srq);
  add(qp.xrcd);
}

}  // namespace

int Nic::create_qp(const QpParts& parts, ibv_qp_init_attr* attr, void* owner, Qp** qp) {
  if (!complete(parts, attr->qp_type)) return EINVAL;
  auto made = std::make_unique<Qp>();
  take_parts(*made, parts, attr->qp_type);
  made->owner = owner;
  if (const int error = lay_out_qp(impl_->core, *attr, *made)) return error;
  Qp* raw = made.get();
  const std::uint32_t index = impl_->core.qps.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->number = index;
  count(*raw, 1);
  if (raw->srq != nullptr) raw->srq_sges.resize(raw->srq->queue.max_sge());
  if (raw->xrcd != nullptr) raw->srq_sges.resize(static_cast<std::size_t>(impl_->core.config.limits.max_srq_sge));
  *qp = raw;
  return 0;
}

int Nic::modify_qp(Qp* qp, const ibv_qp_attr* attr, int mask, Nanos) {
  return nic::modify_qp(impl_->core, *qp, *attr, mask);
}

int Nic::query_qp(const Qp* qp, ibv_qp_attr* attr, ibv_qp_init_attr* init_attr) const {
  nic::query_qp(*qp, *attr, *init_attr);
  return 0;
}

int Nic::destroy_qp(Qp* qp) {
  if (qp->groups > 0) return EBUSY;
  Core& core = impl_->core;
  core.timers.remove(*qp);
  core.active.remove(*qp);
  core.mws.forget(*qp);
  count(*qp, -1);
  core.qps.erase(qp->number);
  return 0;
}

void Nic::set_owner(Qp* qp, void* owner) { qp->owner = owner; }

int Nic::renumber_qp(Qp* qp, std::uint32_t number) {
  Core& core = impl_->core;
  constexpr std::uint32_t kLastQpn = 0xfffffe;  // the one after it is the multicast number
  const auto limit = static_cast<std::uint32_t>(core.config.limits.max_qp);
  if (number < kFirstQpn || number - kFirstQpn < limit || number > kLastQpn || qp->state != IBV_QPS_RESET)
    return EINVAL;
  if (!core.qps.renumber(qp->number, number)) return EADDRINUSE;
  qp->number = number;
  return 0;
}

std::uint32_t qp_num(const Qp* qp) { return qp->number; }
ibv_qp_state qp_state(const Qp* qp) { return qp->state; }
void* owner_of(const Qp* qp) { return qp->owner; }

}  // namespace verbs::soft::nic
