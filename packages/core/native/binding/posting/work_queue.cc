#include "binding/posting/work_queue.h"

#include <algorithm>
#include <bit>

namespace verbs::core {

WorkQueue::WorkQueue(Environment& environment, std::uint32_t capacity, std::uint32_t max_sge)
    : RequestQueue(environment, std::bit_ceil(std::max(capacity, 1u)), max_sge),
      capacity_(capacity),
      mask_(static_cast<std::uint32_t>(entries_.size()) - 1) {}

std::uint64_t WorkQueue::stage(UserId id) {
  const std::uint32_t number = head_ + staged_++;
  last_ = index_of(number);
  entries_[last_].id = id;
  return wr_id_of(number);
}

void WorkQueue::commit(std::uint32_t count) {
  for (std::uint32_t i = count; i < staged_; i++) forget(index_of(head_ + i));
  head_ += count;
  staged_ = 0;
}

UserId WorkQueue::retire(std::uint64_t wr_id) {
  const auto number = static_cast<std::uint32_t>(wr_id);
  // Only a faulty C library reports a wr_id that is not outstanding. Numbers wrap around, so compare distances.
  if (number - tail_ >= head_ - tail_) return {};
  const UserId id = entries_[index_of(number)].id;
  while (tail_ != number + 1) forget(index_of(tail_++));
  return id;
}

std::shared_ptr<WorkQueue> WorkQueue::successor() const {
  return std::make_shared<WorkQueue>(environment(), capacity_, max_sge());
}

}  // namespace verbs::core
