#include "host/events/async_queue.h"

#include <algorithm>
#include <new>

namespace verbs::soft::host {

void AsyncQueue::push(const ibv_async_event& event, EventTarget* target) {
  const std::lock_guard lock(mutex_);
  // As in the kernel, an event for which there is no memory is lost.
  try {
    entries_.push_back({event, target});
  } catch (const std::bad_alloc&) {
    return;
  }
  size_.store(entries_.size(), std::memory_order_release);
  signal_.raise();
}

bool AsyncQueue::pop(ibv_async_event* event) {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return false;
  *event = entries_.front().event;
  if (entries_.front().target) ++entries_.front().target->async_reported;
  entries_.pop_front();
  size_.store(entries_.size(), std::memory_order_release);
  if (entries_.empty()) signal_.lower();
  return true;
}

void AsyncQueue::forget(const EventTarget* target) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.target == target; });
  size_.store(entries_.size(), std::memory_order_release);
  if (entries_.empty()) signal_.lower();
}

}  // namespace verbs::soft::host
