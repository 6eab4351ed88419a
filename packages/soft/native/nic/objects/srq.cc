#include "nic/objects/srq.h"

#include <algorithm>
#include <cerrno>

#include "nic/device/nic_impl.h"
#include "nic/responder/nak.h"
#include "nic/verbs/post.h"
#include "wire/headers.h"

namespace verbs::soft::nic {

Srq::Srq(Pd* srq_pd, void* srq_owner, std::uint32_t max_wr, std::uint32_t max_sge) : pd(srq_pd), owner(srq_owner) {
  queue.allocate(max_wr, max_sge);
}

int Srq::resize(std::uint32_t max_wr) {
  if (max_wr < posted()) return EINVAL;
  RecvQueue resized;
  resized.allocate(max_wr, queue.max_sge());
  for (; !queue.empty(); ++queue.head) {
    resized.at(resized.tail) = queue.at(queue.head);
    std::copy_n(queue.sges(queue.head), queue.at(queue.head).num_sge, resized.sges(resized.tail));
    ++resized.tail;
  }
  queue = std::move(resized);
  return 0;
}

void Srq::arm(std::uint32_t requests, EventSink& events) {
  limit = requests;
  check_limit(events);
}

void Srq::dequeue(RecvWqe* wqe, ibv_sge* sges, EventSink& events) {
  *wqe = queue.at(queue.head);
  std::copy_n(queue.sges(queue.head), wqe->num_sge, sges);
  ++queue.head;
  check_limit(events);
}

// The event comes once: it disarms the limit (IBTA 10.2.9.2).
void Srq::check_limit(EventSink& events) {
  if (posted() >= limit) return;
  limit = 0;
  events.async({.type = IBV_EVENT_SRQ_LIMIT_REACHED, .srq = this});
}

namespace {

bool fits(const Limits& limits, const ibv_srq_attr& attr) {
  return attr.max_wr >= 1 && attr.max_wr <= static_cast<std::uint32_t>(limits.max_srq_wr);
}

}  // namespace

int Nic::create_srq(Pd* pd, ibv_srq_attr* attr, void* owner, Srq** srq, const SrqXrc& xrc) {
  Core& core = impl_->core;
  if (!fits(core.config.limits, *attr)) return EINVAL;
  if (attr->max_sge > static_cast<std::uint32_t>(core.config.limits.max_srq_sge)) return EINVAL;
  auto made = std::make_unique<Srq>(pd, owner, attr->max_wr, std::max(attr->max_sge, 1u));
  Srq* raw = made.get();
  raw->number = core.srqs.insert(std::move(made));
  if (raw->number == 0) return ENOMEM;
  ++pd->users;
  raw->xrcd = xrc.xrcd;
  raw->cq = xrc.cq;
  if (raw->xrcd != nullptr) ++raw->xrcd->users;
  if (raw->cq != nullptr) ++raw->cq->users;
  attr->max_wr = raw->queue.capacity();
  attr->max_sge = raw->queue.max_sge();
  *srq = raw;
  return 0;
}

int Nic::modify_srq(Srq* srq, const ibv_srq_attr* attr, int mask) {
  Core& core = impl_->core;
  if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
  const bool resize = (mask & IBV_SRQ_MAX_WR) != 0;
  const bool arm = (mask & IBV_SRQ_LIMIT) != 0;
  if (resize && !fits(core.config.limits, *attr)) return EINVAL;
  // The limit must be one that a full queue does not fall short of.
  const std::uint32_t limit = arm ? attr->srq_limit : srq->limit;
  if (limit > (resize ? std::bit_ceil(attr->max_wr) : srq->queue.capacity())) return EINVAL;
  if (resize) {
    if (const int error = srq->resize(attr->max_wr)) return error;
  }
  if (arm) srq->arm(limit, core.events);
  return 0;
}

int Nic::query_srq(const Srq* srq, ibv_srq_attr* attr) const {
  *attr = {.max_wr = srq->queue.capacity(), .max_sge = srq->queue.max_sge(), .srq_limit = srq->limit};
  return 0;
}

int Nic::destroy_srq(Srq* srq) {
  if (srq->users > 0) return EBUSY;
  Core& core = impl_->core;
  if (srq->xrcd != nullptr) {
    // A message of some target QP may be on its way into one of its requests: it cannot be finished.
    core.qps.for_each([&](Qp& qp) {
      if (qp.recv.srq == srq) nak_fatal(core, qp, wire::kNakRemoteOperational, IBV_WC_LOC_QP_OP_ERR);
    });
    --srq->xrcd->users;
    --srq->cq->users;
  }
  --srq->pd->users;
  core.srqs.erase(srq->number);
  return 0;
}

int Nic::post_srq_recv(Srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  for (; wr != nullptr; wr = wr->next) {
    if (const int error = enqueue_recv(srq->queue, *wr)) {
      *bad_wr = wr;
      return error;
    }
  }
  return 0;
}

std::uint32_t srq_num(const Srq* srq) { return srq->number; }
void* owner_of(const Srq* srq) { return srq->owner; }

}  // namespace verbs::soft::nic
