// Wakes a thread that sleeps while it has nothing to do.
#pragma once

#include <atomic>

namespace verbs::hbl::model {

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

}  // namespace verbs::hbl::model
