// Completion queues: a ring of work completions, the arming of its event and the moderation of its events.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/base/reasons.h"

namespace verbs::soft::nic {

struct CqOptions {
  bool timestamps = false;
  bool ignore_overrun = false;
  bool tags = false;
};

// What a completion has beyond its ibv_wc.
struct Tags {
  // Of a frame: what the steering reports.
  std::uint32_t flow_tag = 0;
  std::uint16_t cvlan = 0;
  // Of a message that a tagged buffer has taken: what its header says.
  ibv_wc_tm_info matched = {};
};

struct Completion {
  ibv_wc wc;
  Nanos at;   // when it was added, if the CQ has timestamps; else 0
  Tags tags;  // zeros unless the CQ has tags
};

// The slots of a work queue that polling a completion gives back.
struct Slots {
  std::uint32_t* released;  // WorkQueue::released; nullptr: none
  std::uint32_t count;

  void give_back() const {
    if (released != nullptr) *released += count;
  }
};

class Cq : public TimerSlot {
 public:
  // `now` is the NIC's current time; `timers` are those of all completion queues.
  Cq(int cqe, const CqOptions& options, void* cq_owner, const Nanos& now, TimerHeap& timers);

  // Adds an entry, which `fill(ibv_wc&)` writes in place, every field of it. False when the queue is full: the entry is
  // lost, and the first overrun raises IBV_EVENT_CQ_ERR. A queue that ignores overruns drops its oldest entry instead.
  template <typename Fill>
  bool add(bool solicited, EventSink& events, const Slots& slots, const Tags& tags, Fill&& fill) {
    if (count_ == size_ && !make_room(events)) [[unlikely]]
      return false;
    ibv_wc& wc = ring_[tail_];
    fill(wc);
    slots_[tail_] = slots;
    if (tags_) tags_[tail_] = tags;
    if (stamps_) stamps_[tail_] = now_;
    if (++tail_ == size_) tail_ = 0;
    ++count_;
    if (armed_ != Armed::kNo && (armed_ == Armed::kAny || solicited || wc.status != IBV_WC_SUCCESS)) notify(events);
    return true;
  }
  bool push(const ibv_wc& wc, bool solicited, EventSink& events, const Tags& tags = {}) {
    return add(solicited, events, {}, tags, [&](ibv_wc& entry) { entry = wc; });
  }

  // Removes at most `count` entries, oldest first, and returns how many; -EIO once a queue that has overrun is empty,
  // since what is missing never comes. Makes no progress: the host does that.
  int poll(int count, ibv_wc* wc) {
    int polled = 0;
    while (polled < count && count_ > 0) {
      wc[polled++] = ring_[head_];
      drop_oldest();
    }
    return polled == 0 && overrun_ ? -EIO : polled;
  }

  // Removes the oldest entry, with its time stamp and tags. False when the queue is empty.
  bool poll_one(Completion* completion) {
    if (count_ == 0) return false;
    completion->wc = ring_[head_];
    completion->at = stamps_ ? stamps_[head_] : 0;
    completion->tags = tags_ ? tags_[head_] : Tags{};
    drop_oldest();
    return true;
  }

  // Removes the entries of a QP, which is reset.
  void clean(std::uint32_t qp_num);
  // Keeps the entries of a QP, which is destroyed, but not the slots that they hold.
  void forget_qp(std::uint32_t qp_num);
  // The same for the entries of an SRQ.
  void forget_queue(const std::uint32_t* released);

  bool armed() const { return armed_ != Armed::kNo; }
  // A request for any completion is not weakened by a later one for solicited completions (ibv_req_notify_cq(3)).
  void arm(bool solicited_only) {
    if (!solicited_only) {
      armed_ = Armed::kAny;
    } else if (armed_ == Armed::kNo) {
      armed_ = Armed::kSolicited;
    }
  }

  // Keeps the entries. 0, or EINVAL if there are more than `cqe`.
  int resize(int cqe);

  // An armed queue raises its event after `count` completions, or `period` after the first of them. With a count of 0
  // or 1, or a period of 0, every completion raises it.
  void moderate(std::uint32_t count, Nanos period);
  // The moderation period is over.
  void expire(EventSink& events);

  std::size_t pending() const { return count_; }
  // Completions were lost.
  bool has_overrun() const { return overrun_; }
  // Its entries have the time.
  bool is_stamped() const { return stamps_ != nullptr; }
  // Its events may wait for a timer.
  bool is_moderated() const { return moderation_count_ > 1 && moderation_period_ != 0; }
  int cqe() const { return static_cast<int>(size_); }

  void* owner;
  std::uint32_t handle = 0;
  std::uint32_t users = 0;  // QPs and SRQs that complete here

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };

  void drop_oldest() {
    slots_[head_].give_back();
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
  std::unique_ptr<Slots[]> slots_;
  std::unique_ptr<Nanos[]> stamps_;  // if completions are to be timestamped
  std::unique_ptr<Tags[]> tags_;     // if they are to be read
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
  Armed armed_ = Armed::kNo;
  bool overrun_ = false;
  bool ignore_overrun_;
  std::uint32_t moderation_count_ = 0;
  std::uint32_t unreported_ = 0;  // completions since the moderation period began
  Nanos moderation_period_ = 0;
};

class CqTable {
 public:
  // `now` is the NIC's current time.
  CqTable(const Limits& limits, const Nanos& now)
      : max_cqe_(limits.max_cqe), now_(now), table_(1, static_cast<std::uint32_t>(limits.max_cq)) {}

  // 0, EINVAL (`cqe` outside 1 to max_cqe) or ENOMEM, with the reason in *why.
  int create(std::uint64_t cqe, void* owner, Cq** cq, const CqOptions& options = {}, Why* why = nullptr);
  int resize(Cq* cq, int cqe, Why* why = nullptr);  // 0 or EINVAL
  int destroy(Cq* cq);                              // 0, or EBUSY while QPs or SRQs complete there

  // Ends the moderation periods that are over by `now`.
  void expire(Nanos now, EventSink& events);
  Nanos next_deadline() const { return timers_.next(); }
  std::size_t count() const { return table_.size(); }
  // `visit(object)` may not make or end one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    table_.for_each(std::forward<Visit>(visit));
  }

 private:
  int max_cqe_;
  const Nanos& now_;
  TimerHeap timers_;
  Table<Cq> table_;
};

// Completion counters (ibv_create_comp_cntr): how many work requests, or bytes of them, have completed on the queue
// pairs that a counter is attached to. A program reads the sum instead of an entry for each.

struct CompletionCounter {
  // What is counted for a queue pair, by the bits of enum ibv_qp_attach_comp_cntr_op.
  enum Operation : std::uint8_t { kSend, kRecv, kRead, kRemoteRead, kWrite, kRemoteWrite, kOperations };
  static constexpr std::uint32_t kAll = (1u << kOperations) - 1;

  void count(ibv_wc_status status, std::uint32_t length) {
    if (status != IBV_WC_SUCCESS) {
      errors.fetch_add(1, std::memory_order_release);
    } else {
      completed.fetch_add(counts_bytes ? length : 1, std::memory_order_release);
    }
  }

  // Any thread may read and change them; both wrap around to 0.
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> errors{0};  // requests, also where bytes are counted
  bool counts_bytes = false;
  std::uint32_t queue_pairs = 0;  // attachments; under the device's lock
};

// The counters of a queue pair: one at most for each operation.
struct AttachedCounters {
  std::array<CompletionCounter*, CompletionCounter::kOperations> by_operation{};
};

}  // namespace verbs::soft::nic
