// How a thread sleeps until a descriptor is readable or a deadline has passed, and how other threads wake it earlier. A
// thread that makes work calls wake_before(), which costs a system call only if the sleeper would wake too late.
#pragma once

#include <poll.h>

#include <atomic>
#include <mutex>
#include <span>

#include "host/progress/clock.h"
#include "host/progress/device_lock.h"

namespace verbs::soft::host {

class Sleeper {
 public:
  static constexpr Nanos kAwake = INT64_MIN;
  static constexpr Nanos kForever = INT64_MAX;

  Sleeper() = default;
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  int open();                     // 0 or errno
  int fd() const { return fd_; }  // must be fds[0] of sleep()

  // From now on wake_before() wakes the thread. The thread calls it before its last check for work, so that it misses
  // no work that is made between the check and the sleep.
  void prepare() { wake_at_.store(kForever); }
  void stay_awake() { wake_at_.store(kAwake); }
  // Releases the lock while it sleeps. 0, or EINTR if a signal handler ran.
  int sleep(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline);
  // As sleep(). When a descriptor other than its own wakes it, it sleeps for `grace` more, so that another thread can
  // do the work; returns whether it did.
  bool sleep_with_grace(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline, Nanos grace);
  // Sleeps for a short fixed time, in which wake_before() does nothing.
  void nap(std::unique_lock<DeviceLock>& lock, Nanos duration);

  void wake_before(Nanos deadline) {
    if (wake_at_.load() > deadline && wake_at_.exchange(kAwake) > deadline) kick();
  }
  void kick();
  // Under the lock: when this returns the thread polls no descriptor. A socket that is closed while a thread polls it
  // stays bound to its address.
  void leave_poll();

 private:
  // Without the lock. 0 or errno.
  int wait(std::span<pollfd> fds, Nanos timeout);

  int fd_ = -1;
  std::atomic<Nanos> wake_at_{kAwake};
  std::atomic<bool> polling_{false};
};

// An event descriptor (eventfd) that any thread makes readable to report that there is work. A second signal() before
// the next drain() costs no system call.

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
