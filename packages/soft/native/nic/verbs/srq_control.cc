#include "nic/verbs/srq_control.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>

#include "nic/base/containers.h"
#include "nic/core/explanation.h"
#include "nic/responder/responses.h"
#include "wire/headers.h"

namespace verbs::soft::nic {
namespace {

bool fits(const Limits& limits, const ibv_srq_attr& attr) {
  return attr.max_wr >= 1 && attr.max_wr <= static_cast<std::uint32_t>(limits.max_srq_wr);
}

bool fits(const ibv_tm_cap& tags) {
  return tags.max_num_tags >= 1 && tags.max_num_tags <= kMaxTags && tags.max_ops >= 1 && tags.max_ops <= kMaxTagOps;
}

}  // namespace

int SrqControl::create(Pd* pd, ibv_srq_attr* attr, void* owner, Srq** srq, const SrqParts& parts) {
  const Limits& limits = core_.config.limits;
  // Adapters take a queue without room, and make it of one request.
  attr->max_wr = std::max(attr->max_wr, 1u);
  const auto refuse = [this](int error, const Why& why) {
    explain_call(core_, Place::kCreateSrq, error, why);
    return error;
  };
  const auto most_wr = static_cast<std::uint32_t>(limits.max_srq_wr);
  const auto most_sge = static_cast<std::uint32_t>(limits.max_srq_sge);
  if (!fits(limits, *attr) || attr->max_sge > most_sge) {
    return refuse(EINVAL, {Reason::kSrqLimit, {attr->max_wr, attr->max_sge, most_wr, most_sge}});
  }
  if (parts.tags != nullptr && !fits(*parts.tags)) {
    return refuse(EINVAL, {Reason::kTagLimit, {parts.tags->max_num_tags, parts.tags->max_ops, kMaxTags, kMaxTagOps}});
  }
  auto made = std::make_unique<Srq>(pd, owner, attr->max_wr, std::max(attr->max_sge, 1u));
  if (parts.tags != nullptr) made->tags = std::make_unique<TagList>(parts.tags->max_num_tags, parts.tags->max_ops);
  Srq* raw = made.get();
  const std::uint32_t index = core_.srqs.insert(std::move(made));
  if (index == 0) return refuse(ENOMEM, {Reason::kObjectLimit, {static_cast<std::uint64_t>(limits.max_srq)}});
  raw->number = index;
  ++pd->users;
  raw->xrcd = parts.xrcd;
  raw->cq = parts.cq;
  if (raw->xrcd != nullptr) ++raw->xrcd->users;
  if (raw->cq != nullptr) ++raw->cq->users;
  attr->max_wr = raw->queue.capacity();
  attr->max_sge = raw->queue.max_sge();
  *srq = raw;
  return 0;
}

int SrqControl::modify(Srq* srq, const ibv_srq_attr* attr, int mask) {
  if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
  const bool resize = (mask & IBV_SRQ_MAX_WR) != 0;
  const bool arm = (mask & IBV_SRQ_LIMIT) != 0;
  if (resize && !fits(core_.config.limits, *attr)) return EINVAL;
  // A limit above the capacity would always be reached.
  const std::uint32_t limit = arm ? attr->srq_limit : srq->limit;
  if (limit > (resize ? std::bit_ceil(attr->max_wr) : srq->queue.capacity())) return EINVAL;
  if (resize) {
    if (const int error = srq->resize(attr->max_wr)) return error;
  }
  if (arm) srq->arm(limit, core_.events);
  return 0;
}

int SrqControl::query(const Srq* srq, ibv_srq_attr* attr) const {
  *attr = {.max_wr = srq->queue.capacity(), .max_sge = srq->queue.max_sge(), .srq_limit = srq->limit};
  return 0;
}

int SrqControl::destroy(Srq* srq) {
  if (srq->users > 0) return EBUSY;
  if (srq->xrcd != nullptr) {
    // A target QP may be in the middle of a message into one of its requests. That message cannot be finished.
    core_.qps.for_each([&](Qp& qp) {
      if (qp.recv.srq == srq)
        nak_fatal(core_, qp, wire::kNakRemoteOperational, IBV_WC_LOC_QP_OP_ERR, {Reason::kSrqDestroyed});
    });
    --srq->xrcd->users;
  }
  if (srq->cq != nullptr) {
    srq->cq->forget_queue(&srq->queue.released);
    if (srq->tags != nullptr) srq->cq->forget_queue(&srq->tags->ops_released);
    --srq->cq->users;
  }
  --srq->pd->users;
  erase(core_.srqs, srq->number);
  return 0;
}

}  // namespace verbs::soft::nic
