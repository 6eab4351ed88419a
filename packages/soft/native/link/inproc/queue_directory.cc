#include "link/inproc/queue_directory.h"

#include <unistd.h>

#include <algorithm>

namespace verbs::soft::link {

InboxDirectory& InboxDirectory::process() {
  struct Owned {
    pid_t owner = getpid();
    InboxDirectory directory;
  };
  // Without a lock, which a fork could leave locked for ever; never freed, so that it outlives every thread.
  static std::atomic<Owned*> current{nullptr};
  Owned* known = current.load(std::memory_order_acquire);
  while (known == nullptr || known->owner != getpid()) {
    auto made = std::make_unique<Owned>();
    if (current.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  }
  return known->directory;
}

bool InboxDirectory::add(const wire::Gid& address, std::shared_ptr<Inbox> inbox) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(*list_, address, &List::value_type::first) != list_->end()) return false;
  auto next = std::make_shared<List>(*list_);
  next->emplace_back(address, std::move(inbox));
  replace(std::move(next));
  return true;
}

void InboxDirectory::remove(const wire::Gid& address) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<List>(*list_);
  std::erase_if(*next, [&](const auto& entry) { return entry.first == address; });
  replace(std::move(next));
}

void InboxDirectory::replace(std::shared_ptr<const List> list) {
  list_ = std::move(list);
  version_.fetch_add(1, std::memory_order_release);
}

void InboxDirectory::join(const wire::Gid& group, std::shared_ptr<Inbox> inbox) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<List>(*list_);
  next->emplace_back(group, std::move(inbox));
  replace(std::move(next));
}

void InboxDirectory::leave(const wire::Gid& group, const Inbox* inbox) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<List>(*list_);
  std::erase_if(*next, [&](const auto& entry) { return entry.first == group && entry.second.get() == inbox; });
  replace(std::move(next));
}

void InboxDirectory::Reader::refresh() {
  if (version_ != directory_.version_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(directory_.mutex_);
    list_ = directory_.list_;
    version_ = directory_.version_.load(std::memory_order_relaxed);
  }
}

Inbox* InboxDirectory::Reader::find(const wire::Gid& address) {
  refresh();
  for (const auto& [known, inbox] : *list_) {
    if (known == address) return inbox.get();
  }
  return nullptr;
}

}  // namespace verbs::soft::link
