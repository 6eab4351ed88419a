// One object for each process. A forked child gets a new one: the parent's object leads to copies of queues that no
// thread of the child empties.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>

namespace verbs::soft::link {

// The T of this process, created at the first call. It takes no lock, since a fork could leave one locked. The object
// is never destroyed, so that it outlives every thread.
template <typename T>
T& process_instance() {
  struct Owned {
    pid_t owner = getpid();
    T object;
  };
  static std::atomic<Owned*> current{nullptr};
  Owned* known = current.load(std::memory_order_acquire);
  while (known == nullptr || known->owner != getpid()) {
    auto created = std::make_unique<Owned>();
    if (current.compare_exchange_strong(known, created.get(), std::memory_order_acq_rel)) known = created.release();
  }
  return known->object;
}

}  // namespace verbs::soft::link
