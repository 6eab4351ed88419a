// The descriptor of a completion channel: an epoll set that holds the signal of the channel's events and, while it is
// attached, what wakes the device. Whoever waits on it then wakes by the packet itself and takes it in while he fetches
// the event, instead of being woken by a helper thread that was. Changed under the device's lock.
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

  // False if the kernel does not take all of `fds`; then none of them is in the set, and the signal must do.
  bool attach(std::span<const int> fds);
  // Comes before one of them is closed: a copy of it in a forked child would keep it in the set for ever.
  void detach();
  bool attached() const { return attached_.load(std::memory_order_relaxed); }
  link::Nanos looked_at = 0;  // by whom waits on it

 private:
  int fd_ = -1;
  std::vector<int> guests_;
  std::atomic<bool> attached_{false};
};

}  // namespace verbs::soft::host
