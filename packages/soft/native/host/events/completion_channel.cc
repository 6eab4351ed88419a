#include "host/events/completion_channel.h"

namespace verbs::soft::host {

int CompletionChannel::open() {
  const int error = EventSource::open();
  return error != 0 ? error : wait_set.open(signal());
}

void CompletionChannel::append(EventTarget* target) {
  target->next_ = nullptr;
  if (tail_) {
    tail_->next_ = target;
  } else {
    head_ = target;
  }
  tail_ = target;
}

void CompletionChannel::push(EventTarget* target) {
  const std::lock_guard lock(mutex_);
  if (target->pending_++ == 0) append(target);
  size_.fetch_add(1, std::memory_order_release);
  if (!fetching_) signal_.raise();
}

EventTarget* CompletionChannel::pop() {
  if (empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  return take();
}

void CompletionChannel::begin_fetch() {
  const std::lock_guard lock(mutex_);
  fetching_ = true;
}

EventTarget* CompletionChannel::end_fetch() {
  const std::lock_guard lock(mutex_);
  fetching_ = false;
  EventTarget* target = take();
  if (head_) signal_.raise();
  return target;
}

EventTarget* CompletionChannel::take() {
  EventTarget* target = head_;
  if (!target) return nullptr;
  empty_fetches = 0;
  head_ = target->next_;
  if (!head_) tail_ = nullptr;
  if (--target->pending_ > 0) append(target);
  ++target->completions_reported;
  if (size_.fetch_sub(1, std::memory_order_release) == 1) signal_.lower();
  return target;
}

void CompletionChannel::forget(EventTarget* target) {
  const std::lock_guard lock(mutex_);
  if (target->pending_ == 0) return;
  EventTarget* before = nullptr;
  for (EventTarget* other = head_; other != target; other = other->next_) before = other;
  (before ? before->next_ : head_) = target->next_;
  if (tail_ == target) tail_ = before;
  if (size_.fetch_sub(target->pending_, std::memory_order_release) == target->pending_) signal_.lower();
  target->pending_ = 0;
}

}  // namespace verbs::soft::host
