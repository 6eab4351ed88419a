// An event descriptor (eventfd) that any thread makes readable to report that there is work. A second signal() before
// the next drain() costs no system call.
#pragma once

#include <atomic>

namespace verbs::soft::host {

class WakeEvent {
 public:
  WakeEvent() = default;
  ~WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  int open();  // 0 or errno
  int fd() const { return fd_; }
  void signal();
  // Makes the descriptor unreadable. One thread at a time calls it, and looks for work after it: the signal of work
  // that was queued before the drain may be lost.
  void drain();

 private:
  int fd_ = -1;
  std::atomic<bool> signalled_{false};
};

}  // namespace verbs::soft::host
