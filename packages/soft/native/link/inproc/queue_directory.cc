#include "link/inproc/queue_directory.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "link/process_instance.h"
#include "verbs_soft_boundary.h"

namespace verbs::soft::link {

namespace {

std::nullptr_t nothing(int) { return nullptr; }

}  // namespace

QueueDirectory& QueueDirectory::process() { return process_instance<QueueDirectory>(); }

// Readers may hold the list, so that it is copied.
std::shared_ptr<QueueDirectory::List> QueueDirectory::open_queues() const {
  auto next = std::make_shared<List>();
  next->reserve(list_->size() + 1);
  for (const auto& entry : *list_) {
    if (!entry.second->closed()) next->push_back(entry);
  }
  return next;
}

void QueueDirectory::add(const wire::Gid& address, std::shared_ptr<FrameQueue> queue) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<List> next = open_queues();
  if (std::ranges::find(*next, address, &List::value_type::first) != next->end()) return;
  next->emplace_back(address, std::move(queue));
  replace(std::move(next));
}

void QueueDirectory::remove_closed() {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<List> next = contain([&] { return open_queues(); }, nothing)) replace(std::move(next));
}

void QueueDirectory::replace(std::shared_ptr<const List> list) {
  list_ = std::move(list);
  version_.fetch_add(1, std::memory_order_release);
}

void QueueDirectory::join(const wire::Gid& group, std::shared_ptr<FrameQueue> queue) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<List> next = open_queues();
  const List::value_type entry(group, std::move(queue));
  if (std::ranges::find(*next, entry) != next->end()) return;  // there was no memory to leave it
  next->push_back(entry);
  replace(std::move(next));
}

void QueueDirectory::leave(const wire::Gid& group, const FrameQueue* queue) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<List> next = contain([&] { return open_queues(); }, nothing);
  if (!next) return;
  std::erase_if(*next, [&](const auto& entry) { return entry.first == group && entry.second.get() == queue; });
  replace(std::move(next));
}

void QueueDirectory::Reader::refresh() {
  if (version_ != directory_.version_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(directory_.mutex_);
    list_ = directory_.list_;
    version_ = directory_.version_.load(std::memory_order_relaxed);
  }
}

const std::shared_ptr<FrameQueue>* QueueDirectory::Reader::find(const wire::Gid& address) {
  refresh();
  for (const auto& [known, queue] : *list_) {
    if (known == address && !queue->closed()) return &queue;
  }
  return nullptr;
}

}  // namespace verbs::soft::link
