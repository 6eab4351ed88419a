// The descriptor of a completion channel: an epoll set that holds the signal of the channel's events and, while it is
// attached, the sockets of the device. A packet then wakes the thread that waits on the descriptor (the waiter), which
// receives the packet when it fetches the event. Without that, the packet would wake the helper thread, and the helper
// would wake the waiter. Changed under the device's lock.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "link/link.h"

namespace verbs::soft::host {

class WaitSet {
 public:
  WaitSet() = default;
  ~WaitSet();
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;

  int open(int signal);  // 0 or errno. The signal stays in the set.
  int fd() const { return fd_; }

  // False if the kernel does not accept all of `fds`. Then none of them is in the set, and only the signal wakes.
  bool attach(std::span<const int> fds);
  // Call it before one of them is closed: a copy of it in a forked child would keep it in the set.
  void detach();
  bool attached() const { return attached_.load(std::memory_order_relaxed); }
  link::Nanos used_at = 0;  // when the waiter last fetched

 private:
  int fd_ = -1;
  std::vector<int> guests_;
  std::atomic<bool> attached_{false};
};

// A descriptor that is readable while events are queued: an eventfd that remembers its state, so that a second raise()
// costs no system call. Not thread-safe: its owner's lock guards it.

class SignalFd {
 public:
  SignalFd() = default;
  ~SignalFd();
  SignalFd(const SignalFd&) = delete;
  SignalFd& operator=(const SignalFd&) = delete;

  int open();  // 0 or errno
  int fd() const { return fd_; }
  void raise();
  void lower();

 private:
  int fd_ = -1;
  bool raised_ = false;
};

}  // namespace verbs::soft::host
