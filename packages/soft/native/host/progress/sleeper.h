// A thread that sleeps until a descriptor is readable or a time has come, and the way to wake it earlier. Whoever makes
// work for it calls wake_before(): no system call unless the thread really would oversleep.
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

  // From here on wake_before() reaches the thread. Called before it looks for work for the last time, so that work
  // which comes after that look is not missed.
  void prepare() { wake_at_.store(kForever); }
  void stay_awake() { wake_at_.store(kAwake); }
  // Gives the lock up while it sleeps. 0, or EINTR if a signal handler ran.
  int sleep(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline);
  // As sleep(), but if a descriptor wakes it, others get so much time to do what there is to do; true if they got it.
  bool sleep_with_grace(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline, Nanos grace);
  // As sleep(), but for a short fixed time in which wake_before() does nothing.
  void nap(std::unique_lock<DeviceLock>& lock, Nanos duration);

  void wake_before(Nanos deadline) {
    if (wake_at_.load() > deadline && wake_at_.exchange(kAwake) > deadline) kick();
  }
  void kick();
  // Under the lock. The kernel keeps a socket that somebody polls, bound to its address, after it was closed: once this
  // returns the thread polls none any more.
  void let_go();

 private:
  // Without the lock. 0 or errno.
  int wait(std::span<pollfd> fds, Nanos timeout);

  int fd_ = -1;
  std::atomic<Nanos> wake_at_{kAwake};
  std::atomic<bool> polling_{false};
};

}  // namespace verbs::soft::host
