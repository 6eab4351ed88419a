// The locks of the exported functions, and the wall clock of the completions.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "host/progress/clock.h"

namespace verbs::soft::abi {

// The section between a start and an end call of the verbs (ibv_wr_start, ibv_start_poll). One thread is inside; others
// wait. enter() and inside() detect a thread that starts twice or ends without a start, so that it never blocks itself.
class CriticalSection {
 public:
  // False if the calling thread is inside already.
  bool enter() {
    if (inside()) return false;
    mutex_.lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  bool inside() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  // Only for the thread that is inside.
  void leave() {
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
};

// The lock of the tables that all contexts of the process share. It is held across a fork, so that the tables are
// consistent in the child.

// The innermost lock (host::LockRank::kTable): a thread that holds it only allocates and frees memory.
std::mutex& process_lock();

// Completion timestamps on the wall clock. They never run backwards from one completion to a later one, although the
// wall clock may be set back, and two readings of it and of the monotonic clock are never taken at once: one difference
// of the clocks serves a whole poll, and it shrinks at most half as fast as time passes.

class WallTime {
 public:
  // Before the completions of a poll are read, of which the first is from `at`: the clocks differ by `offset` now.
  void synchronize(host::Nanos at, host::Nanos offset) {
    offset_ = started_ ? std::max(offset, offset_ - (at - last_) / 2) : offset;
    started_ = true;
  }
  // Nanoseconds since 1970 of a completion from `at`.
  host::Nanos read(host::Nanos at) {
    last_ = std::max(last_, at);
    return at + offset_;
  }

 private:
  bool started_ = false;
  host::Nanos offset_ = 0;
  host::Nanos last_ = 0;  // of the completions that were read
};

}  // namespace verbs::soft::abi
