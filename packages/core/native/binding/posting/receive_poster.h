// Posts receive requests: to a QP, a shared receive queue or a receive work queue.
#pragma once

#include <algorithm>

#include "binding/posting/staging.h"

namespace verbs::core {

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
