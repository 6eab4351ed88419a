// The lock of a device. A thread that polls in a loop takes it again and again; a plain mutex would let it starve the
// others for whole time slices, since an unlocked mutex goes to whoever runs. So pollers let waiting threads in first.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>

namespace verbs::soft::host {

class DeviceLock {
 public:
  void lock() {
    if (mutex_.try_lock()) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

  void lock_after_others() {
    // Bounded: a waiting thread may itself be kept from running.
    for (int turn = 0; turn < 64 && waiting_.load(std::memory_order_relaxed) > 0; ++turn) sched_yield();
    lock();
  }

 private:
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
};

}  // namespace verbs::soft::host
