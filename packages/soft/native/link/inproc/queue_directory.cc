#include "link/inproc/queue_directory.h"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "link/process_instance.h"

namespace verbs::soft::link {
namespace {

// Destructors remove entries. Readers may hold the list, so that it is copied; without memory for that, later attempts
// may have some. An entry that stays after all leads to a closed queue, which takes no frames.
template <typename Attempt>
void patiently(Attempt&& attempt) {
  for (int tries = 0; tries < 20; ++tries) {
    try {
      return attempt();
    } catch (const std::bad_alloc&) {
      usleep(1000);
    }
  }
}

}  // namespace

QueueDirectory& QueueDirectory::process() { return process_instance<QueueDirectory>(); }

bool QueueDirectory::add(const wire::Gid& address, std::shared_ptr<FrameQueue> queue) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(*list_, address, &List::value_type::first) != list_->end()) return false;
  auto next = std::make_shared<List>(*list_);
  next->emplace_back(address, std::move(queue));
  replace(std::move(next));
  return true;
}

void QueueDirectory::remove(const wire::Gid& address) {
  patiently([&] {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<List>(*list_);
    std::erase_if(*next, [&](const auto& entry) { return entry.first == address; });
    replace(std::move(next));
  });
}

void QueueDirectory::replace(std::shared_ptr<const List> list) {
  list_ = std::move(list);
  version_.fetch_add(1, std::memory_order_release);
}

void QueueDirectory::join(const wire::Gid& group, std::shared_ptr<FrameQueue> queue) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<List>(*list_);
  next->emplace_back(group, std::move(queue));
  replace(std::move(next));
}

void QueueDirectory::leave(const wire::Gid& group, const FrameQueue* queue) {
  patiently([&] {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<List>(*list_);
    std::erase_if(*next, [&](const auto& entry) { return entry.first == group && entry.second.get() == queue; });
    replace(std::move(next));
  });
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
    if (known == address) return &queue;
  }
  return nullptr;
}

}  // namespace verbs::soft::link
