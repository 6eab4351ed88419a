// Completion queues: a ring of work completions, the arming of its event and the moderation of its events.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nic/nic.h"
#include "nic/shared/event.h"
#include "nic/shared/timer_heap.h"

namespace verbs::soft::nic {

class Cq : public TimerSlot {
 public:
  // `now` is the NIC's time of the moment; `timers` are those of completion queues.
  Cq(int cqe, const CqOptions& options, void* cq_owner, const Nanos& now, TimerHeap& timers);

  // False when the queue is full: the entry is lost and the CQ has overrun (IBV_EVENT_CQ_ERR, once). A queue that
  // ignores overruns loses its oldest entry instead.
  bool push(const ibv_wc& wc, bool solicited, EventSink& events, const FrameTags& tags = {}) {
    if (count_ == size_ && !make_room(events)) return false;
    ring_[tail_] = wc;
    if (tags_) tags_[tail_] = tags;
    if (stamps_) stamps_[tail_] = now_;
    if (++tail_ == size_) tail_ = 0;
    ++count_;
    if (armed_ == Armed::kAny || (armed_ == Armed::kSolicited && (solicited || wc.status != IBV_WC_SUCCESS))) {
      notify(events);
    }
    return true;
  }

  int poll(int count, ibv_wc* wc) {
    int taken = 0;
    while (taken < count && count_ > 0) {
      wc[taken++] = ring_[head_];
      drop_oldest();
    }
    return taken;
  }

  // The oldest entry and when it came; false when the queue is empty.
  bool take(Completion* completion) {
    if (count_ == 0) return false;
    completion->wc = ring_[head_];
    completion->at = stamps_ ? stamps_[head_] : 0;
    completion->tags = tags_ ? tags_[head_] : FrameTags{};
    drop_oldest();
    return true;
  }

  // Forgets the entries of a QP, which begins anew.
  void clean(std::uint32_t qp_num);

  bool armed() const { return armed_ != Armed::kNo; }
  // A request for any completion is not weakened by a later one for solicited completions (ibv_req_notify_cq(3)).
  void arm(bool solicited_only) {
    if (!solicited_only) {
      armed_ = Armed::kAny;
    } else if (armed_ == Armed::kNo) {
      armed_ = Armed::kSolicited;
    }
  }

  // Keeps the entries. EINVAL if they are more than `cqe`.
  int resize(int cqe);

  // An armed queue raises its event when `count` completions have come or `period` after the first of them. Without one
  // of the two every completion raises it.
  void moderate(std::uint32_t count, Nanos period);
  // The period is over.
  void expire(EventSink& events);

  std::size_t pending() const { return count_; }
  int cqe() const { return static_cast<int>(size_); }

  void* owner;
  std::uint32_t handle = 0;
  std::uint32_t users = 0;  // QPs and SRQs that complete here

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };

  void drop_oldest() {
    if (++head_ == size_) head_ = 0;
    --count_;
  }
  bool make_room(EventSink& events);
  void notify(EventSink& events);
  void fire(EventSink& events);

  const Nanos& now_;
  TimerHeap& timers_;
  std::size_t size_;
  std::unique_ptr<ibv_wc[]> ring_;
  std::unique_ptr<Nanos[]> stamps_;    // if completions are to be timestamped
  std::unique_ptr<FrameTags[]> tags_;  // if flow tags or VLAN tags are to be read
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
  Armed armed_ = Armed::kNo;
  bool overrun_ = false;
  bool ignore_overrun_;
  std::uint32_t moderation_count_ = 0;
  std::uint32_t unreported_ = 0;  // completions that wait for the count or the period
  Nanos moderation_period_ = 0;
};

}  // namespace verbs::soft::nic
