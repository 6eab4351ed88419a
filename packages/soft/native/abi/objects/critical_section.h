// The section between a start and an end call of the verbs (ibv_wr_start, ibv_start_poll). One thread is inside; others
// wait. enter() and inside() detect a thread that starts twice or ends without a start, so that it never blocks itself.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace verbs::soft::abi {

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

}  // namespace verbs::soft::abi
