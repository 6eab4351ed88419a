// The lock of a device. A thread that polls in a loop takes it again and again; a plain mutex would let it starve the
// others for whole time slices, since an unlocked mutex goes to whoever runs. So pollers let waiting threads in first.
#pragma once

#include <atomic>
#include <mutex>

namespace verbs::soft::host {

class DeviceLock {
 public:
  void lock() {
    if (mutex_.try_lock()) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard turn(turnstile_);
      mutex_.lock();
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

  void lock_after_others() {
    if (waiting_.load(std::memory_order_relaxed) == 0) return lock();
    // Whoever waits for the lock holds the turnstile until it has it.
    const std::lock_guard turn(turnstile_);
    mutex_.lock();
  }

 private:
  std::mutex mutex_;
  std::mutex turnstile_;
  std::atomic<int> waiting_{0};
};

}  // namespace verbs::soft::host
