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

UserId WorkQueue::retire(const ibv_wc& wc) {
  const auto number = static_cast<std::uint32_t>(wc.wr_id);
  // Only a faulty C library reports a wr_id that is not outstanding. Numbers wrap around, so compare distances.
  if (number - tail_ >= head_ - tail_) return {};
  const UserId id = entries_[index_of(number)].id;
  while (tail_ != number + 1) forget(index_of(tail_++));
  return id;
}

std::shared_ptr<WorkQueue> WorkQueue::successor() const {
  return std::make_shared<WorkQueue>(environment(), capacity_, max_sge());
}

SharedQueue::SharedQueue(Environment& environment, std::uint32_t capacity, std::uint32_t max_sge)
    : RequestQueue(environment, capacity, max_sge), free_(capacity), outstanding_(capacity) {
  for (std::uint32_t i = 0; i < capacity; i++) free_[i] = capacity - 1 - i;
}

void SharedQueue::grow(std::uint32_t capacity) {
  const auto old = static_cast<std::uint32_t>(entries_.size());
  if (capacity <= old) return;
  resize(capacity);
  outstanding_.resize(capacity);
  free_.reserve(capacity);
  for (std::uint32_t index = old; index < capacity; index++) free_.push_back(index);
}

std::uint64_t SharedQueue::stage(UserId id) {
  last_ = free_[free_.size() - 1 - staged_++];
  entries_[last_].id = id;
  return wr_id_of(last_);
}

void SharedQueue::commit(std::uint32_t count) {
  const std::size_t end = free_.size();
  for (std::uint32_t i = 0; i < staged_; i++) {
    const std::uint32_t index = free_[end - 1 - i];
    if (i < count) {
      outstanding_[index] = true;
    } else {
      forget(index);
    }
  }
  free_.resize(end - count);
  staged_ = 0;
}

UserId SharedQueue::retire(const ibv_wc& wc) {
  const std::uint32_t index = index_of(wc);
  if (!is_outstanding(index)) return {};
  release(index);
  return entries_[index].id;
}

void SharedQueue::release(std::uint32_t index) {
  outstanding_[index] = false;
  // Within the vector's first size: no allocation.
  free_.push_back(index);
  forget(index);
}

}  // namespace verbs::core
