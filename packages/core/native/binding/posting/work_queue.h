// The requests of a QP's send or receive side: they complete in their order, and a completion speaks for all earlier
// ones.
#pragma once

#include "binding/posting/request_queue.h"

namespace verbs::core {

class WorkQueue final : public RequestQueue {
 public:
  WorkQueue(Environment& environment, std::uint32_t capacity, std::uint32_t max_sge);

  bool idle() const override { return head_ == tail_; }
  bool full() const override { return head_ + staged_ - tail_ == capacity_; }
  std::uint64_t stage(UserId id) override;
  void commit(std::uint32_t count) override;
  UserId retire(std::uint64_t wr_id) override;

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

}  // namespace verbs::core
