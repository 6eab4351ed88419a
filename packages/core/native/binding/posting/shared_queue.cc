#include "binding/posting/shared_queue.h"

namespace verbs::core {

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

UserId SharedQueue::retire(std::uint64_t wr_id) {
  const auto index = static_cast<std::uint32_t>(wr_id);
  if (index >= outstanding_.size() || !outstanding_[index]) return {};
  outstanding_[index] = false;
  // Within the vector's first size: no allocation.
  free_.push_back(index);
  forget(index);
  return entries_[index].id;
}

}  // namespace verbs::core
