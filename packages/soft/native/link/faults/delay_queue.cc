#include "link/faults/delay_queue.h"

#include <algorithm>
#include <cstring>

namespace verbs::soft::link {

DelayQueue::DelayQueue(std::size_t capacity) : frames_(capacity * wire::kMaxFrame) {
  heap_.reserve(capacity);
  free_.reserve(capacity);
  for (std::size_t i = capacity; i > 0; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
}

bool DelayQueue::later(const Entry& a, const Entry& b) {
  return a.due != b.due ? a.due > b.due : a.sequence > b.sequence;
}

bool DelayQueue::push(std::span<const std::uint8_t> frame, Nanos due) {
  if (free_.empty() || frame.size() > wire::kMaxFrame) return false;
  const std::uint32_t index = free_.back();
  free_.pop_back();
  std::memcpy(frames_.data() + index * wire::kMaxFrame, frame.data(), frame.size());
  heap_.push_back({due, sequence_++, index, static_cast<std::uint32_t>(frame.size())});
  std::push_heap(heap_.begin(), heap_.end(), later);
  return true;
}

Nanos DelayQueue::next_due() const { return heap_.empty() ? INT64_MAX : heap_.front().due; }

std::span<const std::uint8_t> DelayQueue::front() const {
  const Entry& first = heap_.front();
  return {slot(first.slot), first.size};
}

void DelayQueue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  free_.push_back(heap_.back().slot);
  heap_.pop_back();
}

}  // namespace verbs::soft::link
