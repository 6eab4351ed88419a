#include "qp.h"

#include <cerrno>

#include "nic_impl.h"
#include "qp_attributes.h"

namespace verbs::soft::nic {

int Nic::create_qp(const QpParts& parts, ibv_qp_init_attr* attr, void* owner, Qp** qp) {
  if (parts.send_cq == nullptr || parts.recv_cq == nullptr) return EINVAL;
  auto made = std::make_unique<Qp>();
  made->pd = parts.pd;
  made->send_cq = parts.send_cq;
  made->recv_cq = parts.recv_cq;
  made->srq = parts.srq;
  made->owner = owner;
  if (const int error = lay_out_qp(impl_->core, *attr, *made)) return error;
  Qp* raw = made.get();
  const std::uint32_t index = impl_->core.qps.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->number = index;
  ++parts.pd->users;
  ++parts.send_cq->users;
  ++parts.recv_cq->users;
  if (parts.srq != nullptr) {
    ++parts.srq->users;
    raw->held_sges.resize(parts.srq->queue.max_sge());
  }
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
  Core& core = impl_->core;
  core.timers.remove(*qp);
  core.active.remove(*qp);
  core.mws.forget(*qp);
  --qp->pd->users;
  --qp->send_cq->users;
  --qp->recv_cq->users;
  if (qp->srq != nullptr) --qp->srq->users;
  core.qps.erase(qp->number);
  return 0;
}

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
