// The lock of a device. A thread that polls in a loop releases and takes it all the time. With a plain mutex such a
// thread would keep the others out for whole time slices, since it runs when the mutex is free and they do not. So a
// thread that polls takes the lock by lock_after_others().
#pragma once

#include <atomic>
#include <mutex>

#include "guard/fault_signals.h"

namespace verbs::soft::host {

class DeviceLock {
 public:
  void lock() {
    guard::begin_step();
    if (mutex_.try_lock()) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard pass(turnstile_);
      mutex_.lock();
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool try_lock() {
    guard::begin_step();
    return mutex_.try_lock();
  }
  void unlock() {
    mutex_.unlock();
    guard::restore_fault_signals();  // a step of the NIC ends
  }

  void lock_after_others() {
    if (waiting_.load(std::memory_order_relaxed) == 0) return lock();
    guard::begin_step();
    // A thread that waits for the lock holds the turnstile until it has the lock.
    const std::lock_guard pass(turnstile_);
    mutex_.lock();
  }

 private:
  std::mutex mutex_;
  std::mutex turnstile_;
  std::atomic<int> waiting_{0};
};

}  // namespace verbs::soft::host
