// The queue inside a user FIFO. Stores to its register fill it, in a signal handler of any thread; the worker empties
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "model/doorbell/waker.h"

namespace verbs::hbl::model {

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
