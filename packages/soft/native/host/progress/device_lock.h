// The lock of a device. A thread that polls in a loop releases and takes it all the time. With a plain mutex such a
// thread would keep the others out for whole time slices, since it runs when the mutex is free and they do not. So a
// thread that polls takes the lock by lock_after_others().
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "guard/fault_signals.h"

namespace verbs::soft::host {

// A mutex that is one atomic instruction, inline, where nobody waits: each call of the data path takes one or two.
class FutexMutex {
 public:
  void lock() {
    if (!try_lock()) wait();
  }
  bool try_lock() {
    int free = kFree;
    return state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) wake();
  }

 private:
  static constexpr int kFree = 0, kTaken = 1, kAwaited = 2;

  void wait() {
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
      syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kAwaited, nullptr, nullptr, 0);
    }
  }
  void wake() { syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

  std::atomic<int> state_{kFree};
  static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);
};

class DeviceLock {
 public:
  void lock() {
    if (mutex_.try_lock()) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard pass(turnstile_);
      mutex_.lock();
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() {
    mutex_.unlock();
    guard::restore_fault_signals();  // a step of the NIC ends
  }

  // For a thread that has the lock of another device and is in a step of that. It does not wait for a thread that
  // waits, too, nor for long.
  bool try_join() {
    constexpr int kTries = 64;
    for (int i = 0; i < kTries; ++i) {
      if (waiting_.load(std::memory_order_relaxed) == 0 && mutex_.try_lock()) return true;
    }
    return false;
  }
  void part() { mutex_.unlock(); }

  void lock_after_others() {
    if (waiting_.load(std::memory_order_relaxed) == 0) return lock();
    // A thread that waits for the lock holds the turnstile until it has the lock.
    const std::lock_guard pass(turnstile_);
    mutex_.lock();
  }

 private:
  FutexMutex mutex_;
  std::mutex turnstile_;
  std::atomic<int> waiting_{0};
};

}  // namespace verbs::soft::host
