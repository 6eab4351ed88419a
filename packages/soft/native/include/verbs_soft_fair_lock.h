// A lock whose waiters get it in the order of their calls. A mutex of libc goes to whoever is there when it is free: a
// thread that opens and closes devices in a loop has it again before one that waits is awake, and a fork, which takes
// every lock, stood still for seconds. For locks that are held long: waiting costs a system call.
#pragma once

#include <atomic>
#include <cstdint>

namespace verbs::soft {

// May be taken again by the thread that has it.
class FairLock {
 public:
  constexpr FairLock() = default;
  FairLock(const FairLock&) = delete;
  FairLock& operator=(const FairLock&) = delete;

  void lock() {
    const std::uintptr_t self = this_thread();
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return;
    }
    const std::uint32_t turn = next_.fetch_add(1, std::memory_order_relaxed);
    for (std::uint32_t now = 0; (now = serving_.load(std::memory_order_acquire)) != turn;) serving_.wait(now);
    owner_.store(self, std::memory_order_relaxed);
    depth_ = 1;
  }

  bool try_lock() {
    const std::uintptr_t self = this_thread();
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return true;
    }
    std::uint32_t turn = serving_.load(std::memory_order_acquire);
    if (!next_.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire)) return false;
    owner_.store(self, std::memory_order_relaxed);
    depth_ = 1;
    return true;
  }

  void unlock() {
    if (--depth_ > 0) return;
    owner_.store(0, std::memory_order_relaxed);
    serving_.fetch_add(1, std::memory_order_release);
    serving_.notify_all();
  }

 private:
  // The address of something that each thread has for itself.
  static std::uintptr_t this_thread() {
    static thread_local char mark;
    return reinterpret_cast<std::uintptr_t>(&mark);
  }

  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serving_{0};
  std::atomic<std::uintptr_t> owner_{0};
  std::uint32_t depth_ = 0;  // of the owner
};

}  // namespace verbs::soft
