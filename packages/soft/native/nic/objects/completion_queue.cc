#include "nic/objects/completion_queue.h"

#include <cerrno>
#include <new>

#include "nic/base/containers.h"

namespace verbs::soft::nic {

// The rings are not cleared: a large one takes memory only as it fills.
Cq::Cq(int cqe, const CqOptions& options, void* cq_owner, const Nanos& now, TimerHeap& timers)
    : owner(cq_owner),
      now_(now),
      timers_(timers),
      size_(static_cast<std::size_t>(cqe)),
      ring_(std::make_unique_for_overwrite<ibv_wc[]>(size_)),
      slots_(std::make_unique_for_overwrite<Slots[]>(size_)),
      stamps_(options.timestamps ? std::make_unique_for_overwrite<Nanos[]>(size_) : nullptr),
      tags_(options.tags ? std::make_unique_for_overwrite<Tags[]>(size_) : nullptr),
      ignore_overrun_(options.ignore_overrun) {}

bool Cq::make_room(EventSink& events) {
  if (ignore_overrun_) {
    drop_oldest();
    return true;
  }
  if (!overrun_) events.async({IBV_EVENT_CQ_ERR, nullptr, this, 0});
  overrun_ = true;
  return false;
}

int Cq::resize(int cqe) {
  const auto size = static_cast<std::size_t>(cqe);
  if (size < count_) return EINVAL;
  auto ring = std::make_unique_for_overwrite<ibv_wc[]>(size);
  auto slots = std::make_unique_for_overwrite<Slots[]>(size);
  auto stamps = stamps_ ? std::make_unique_for_overwrite<Nanos[]>(size) : nullptr;
  auto tags = tags_ ? std::make_unique_for_overwrite<Tags[]>(size) : nullptr;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t from = (head_ + i) % size_;
    ring[i] = ring_[from];
    slots[i] = slots_[from];
    if (stamps) stamps[i] = stamps_[from];
    if (tags) tags[i] = tags_[from];
  }
  ring_ = std::move(ring);
  slots_ = std::move(slots);
  stamps_ = std::move(stamps);
  tags_ = std::move(tags);
  size_ = size;
  head_ = 0;
  tail_ = count_ % size_;
  return 0;
}

void Cq::clean(std::uint32_t qp_num) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t from = (head_ + i) % size_;
    if (ring_[from].qp_num == qp_num) {
      slots_[from].give_back();
      continue;
    }
    const std::size_t to = (head_ + kept++) % size_;
    ring_[to] = ring_[from];
    slots_[to] = slots_[from];
    if (stamps_) stamps_[to] = stamps_[from];
    if (tags_) tags_[to] = tags_[from];
  }
  count_ = kept;
  tail_ = (head_ + count_) % size_;
}

void Cq::forget_qp(std::uint32_t qp_num) {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t at = (head_ + i) % size_;
    if (ring_[at].qp_num != qp_num) continue;
    slots_[at].give_back();
    slots_[at] = {};
  }
}

void Cq::forget_queue(const std::uint32_t* released) {
  for (std::size_t i = 0; i < count_; ++i) {
    Slots& slots = slots_[(head_ + i) % size_];
    if (slots.released == released) slots = {};
  }
}

void Cq::moderate(std::uint32_t count, Nanos period) {
  moderation_count_ = count;
  moderation_period_ = period;
}

void Cq::notify(EventSink& events) {
  if (!is_moderated()) return fire(events);
  ++unreported_;
  if (unreported_ >= moderation_count_) return fire(events);
  if (unreported_ != 1) return;
  try {
    timers_.arm(*this, now_ + moderation_period_);
  } catch (const std::bad_alloc&) {  // for the timer: who completes a request goes on, and the event comes at once
    fire(events);
  }
}

void Cq::fire(EventSink& events) {
  armed_ = Armed::kNo;
  unreported_ = 0;
  timers_.cancel(*this);
  events.completion(this);
}

void Cq::expire(EventSink& events) {
  if (unreported_ > 0) fire(events);
}

int CqTable::create(std::uint64_t cqe, void* owner, Cq** cq, const CqOptions& options, Why* why) {
  const auto refuse = [why](int error, const Why& reason) {
    if (why != nullptr) *why = reason;
    return error;
  };
  const auto most = static_cast<std::uint64_t>(max_cqe_);
  if (cqe < 1 || cqe > most) return refuse(EINVAL, {Reason::kCqEntries, {cqe, most}});
  auto made = std::make_unique<Cq>(static_cast<int>(cqe), options, owner, now_, timers_);
  Cq* raw = made.get();
  timers_.make_room(table_.size() + 1);
  const std::uint32_t index = table_.insert(std::move(made));
  if (index == 0) return refuse(ENOMEM, {Reason::kObjectLimit, {table_.limit()}});
  raw->handle = index;
  *cq = raw;
  return 0;
}

int CqTable::resize(Cq* cq, int cqe, Why* why) {
  const auto refuse = [why](const Why& reason) {
    if (why != nullptr) *why = reason;
    return EINVAL;
  };
  const auto given = static_cast<std::uint64_t>(cqe);
  if (cqe < 1 || cqe > max_cqe_) {
    return refuse({Reason::kCqEntries, {cqe < 1 ? 0 : given, static_cast<std::uint64_t>(max_cqe_)}});
  }
  if (given < cq->pending()) return refuse({Reason::kCqHolds, {cq->pending(), given}});
  return cq->resize(cqe);
}

int CqTable::destroy(Cq* cq) {
  if (cq->users > 0) return EBUSY;
  timers_.remove(*cq);
  erase(table_, cq->handle);
  return 0;
}

void CqTable::expire(Nanos now, EventSink& events) {
  while (TimerSlot* slot = timers_.expire(now)) static_cast<Cq&>(*slot).expire(events);
}

}  // namespace verbs::soft::nic
