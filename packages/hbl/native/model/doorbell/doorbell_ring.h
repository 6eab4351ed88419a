// The queue inside a user FIFO. Stores to its register fill it, in a signal handler of any thread; the worker empties
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace verbs::hbl::model {

// Wakes a thread that sleeps while it has nothing to do.

// wake() is safe in signal handlers.
class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake() {
    if (sleeping_.exchange(false, std::memory_order_seq_cst)) signal();
  }
  // Sleeps until wake(), for at most `milliseconds` (-1: no limit). Calls `ready()` before, when no wake() can be
  // missed any more, and does not sleep if it returns true.
  template <typename Ready>
  void sleep(int milliseconds, Ready&& ready) {
    sleeping_.store(true, std::memory_order_seq_cst);
    if (!ready()) wait(milliseconds);
    sleeping_.store(false, std::memory_order_seq_cst);
  }
  bool open() const { return fd_ >= 0; }

 private:
  void signal();
  void wait(int milliseconds);
  int fd_;
  std::atomic<bool> sleeping_{false};
};

class DoorbellRing {
 public:
  static constexpr std::uint32_t kEntries = 64;

  explicit DoorbellRing(Waker& waker) : waker_(waker) {}

  // A store of `width` (4 or 8) bytes, `offset` bytes after the register's address. The upper half of a doorbell in two
  // halves completes it. Async-signal-safe.
  void store(std::uint32_t offset, unsigned width, std::uint64_t value);

  // The worker's side.
  bool empty() const { return head_ == tail_.load(std::memory_order_seq_cst); }
  std::uint64_t front() const { return slots_[head_ % kEntries]; }
  // Removes the front and returns the consumer index, which counts entries modulo kEntries.
  std::uint32_t pop();
  // Whether doorbells were lost since the last call.
  bool take_overrun() { return overrun_.exchange(false); }

 private:
  void push(std::uint64_t doorbell);

  Waker& waker_;
  std::array<std::uint64_t, kEntries> slots_{};
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::atomic<std::uint32_t> tail_{0};
  std::atomic<std::uint32_t> released_{0};  // head_, as the storing threads see it
  std::uint32_t head_ = 0;
  std::uint32_t low_half_ = 0;
  std::atomic<bool> overrun_{false};
};

}  // namespace verbs::hbl::model
