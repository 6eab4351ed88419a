// The requests of a QP's send or receive side: they complete in their order, and a completion speaks for all earlier
// ones.
#pragma once

#include <algorithm>

#include "binding/posting/request_queue.h"
#include "binding/posting/staging.h"

namespace verbs::core {

class WorkQueue final : public RequestQueue {
 public:
  WorkQueue(Environment& environment, std::uint32_t capacity, std::uint32_t max_sge);

  bool idle() const override { return head_ == tail_; }
  bool full() const override { return head_ + staged_ - tail_ == capacity_; }
  std::uint64_t stage(UserId id) override;
  void commit(std::uint32_t count) override;
  UserId retire(const ibv_wc& wc) override;

  // An empty one of the same size, for the same C object.
  std::shared_ptr<WorkQueue> successor() const;

 private:
  std::uint32_t index_of(std::uint32_t number) const { return number & mask_; }

  std::uint32_t capacity_;
  std::uint32_t mask_;
  std::uint32_t head_ = 0;    // number of the next request; wraps around
  std::uint32_t tail_ = 0;    // number of the oldest one that is not known to be done
  std::uint32_t staged_ = 0;  // behind head_
};

// The requests of a shared receive queue: several QPs take them, so they complete in any order, each for itself.

class SharedQueue : public RequestQueue {
 public:
  SharedQueue(Environment& environment, std::uint32_t capacity, std::uint32_t max_sge);

  // Room for more; never for less.
  void grow(std::uint32_t capacity);

  bool idle() const final { return free_.size() == entries_.size(); }
  bool full() const final { return free_.size() == staged_; }
  std::uint64_t stage(UserId id) final;
  void commit(std::uint32_t count) final;
  UserId retire(const ibv_wc& wc) override;

 protected:
  static std::uint32_t index_of(const ibv_wc& wc) { return static_cast<std::uint32_t>(wc.wr_id); }
  bool is_outstanding(std::uint32_t index) const { return index < outstanding_.size() && outstanding_[index]; }
  void release(std::uint32_t index);

 private:
  std::vector<std::uint32_t> free_;  // a stack; its upper `staged_` entries are being staged, from the top down
  std::vector<bool> outstanding_;
  std::uint32_t staged_ = 0;
};

// Posts receive requests: to a QP, a shared receive queue or a receive work queue.

class ReceivePoster {
 public:
  ReceivePoster(std::shared_ptr<RequestQueue> queue, std::uint32_t capacity)
      : queue_(std::move(queue)),
        requests_(std::min(capacity, kPostChunk)),
        sges_(requests_.size() * queue_->max_sge()) {}

  const std::shared_ptr<RequestQueue>& queue() const { return queue_; }
  // One of the same size in its place.
  void replace(std::shared_ptr<RequestQueue> queue) { queue_ = std::move(queue); }

  // The first `count` requests of a batch (records.h), by `call(first, bad)` of the C library. 0, a positive errno of
  // the C library, or a PostError.
  template <typename Call>
  int post(const Context& context, Cursor& cursor, std::uint32_t count, Call call) {
    return post_chunks(
        cursor, count, *queue_, requests_, [&](std::uint32_t index) { return stage(context, cursor, index); }, call);
  }

 private:
  int stage(const Context& context, Cursor& cursor, std::uint32_t index) {
    RecvRecord record;
    cursor.next();
    if (!cursor.read(&record)) return kTruncated;
    if ((record.flags & kWritten) == 0) return kNotWritten;
    if (queue_->full()) return kQueueFull;
    ibv_recv_wr& wr = requests_[index];
    wr = {};
    wr.wr_id = queue_->stage({record.wr_id, (record.flags & kIdIsNumber) != 0});
    wr.sg_list = sges_.data() + std::size_t{index} * queue_->max_sge();
    return stage_sges(context, *queue_, cursor, record.num_sge, wr.sg_list, &wr.num_sge);
  }

  std::shared_ptr<RequestQueue> queue_;
  std::vector<ibv_recv_wr> requests_;
  std::vector<ibv_sge> sges_;
};

}  // namespace verbs::core
