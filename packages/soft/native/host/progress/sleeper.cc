#include "host/progress/sleeper.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "verbs_soft_cancel.h"

namespace verbs::soft::host {

Sleeper::~Sleeper() {
  if (fd_ >= 0) close(fd_);
}

int Sleeper::open() {
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ < 0 ? errno : 0;
}

void Sleeper::kick() {
  const Uncancelled call;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written =
      write(fd_, &one, sizeof one);  // fails only if the counter is full: readable already
}

void Sleeper::leave_poll() {
  while (polling_.load()) {
    kick();
    sched_yield();
  }
}

namespace {

Nanos time_until(Nanos deadline) {
  return deadline == Sleeper::kForever ? Sleeper::kForever : std::max<Nanos>(deadline - now(), 0);
}

}  // namespace

int Sleeper::wait(std::span<pollfd> fds, Nanos timeout) {
  const timespec time{static_cast<time_t>(timeout / 1'000'000'000), static_cast<long>(timeout % 1'000'000'000)};
  // Ends also when the thread is cancelled.
  struct Polling {
    ~Polling() { flag.store(false); }
    std::atomic<bool>& flag;
  };
  int ready = 0;
  {
    const Polling polling{polling_};
    const Cancellable wait;
    ready = ppoll(fds.data(), fds.size(), timeout == kForever ? nullptr : &time, nullptr);
  }
  const int error = ready < 0 ? errno : 0;
  if (ready > 0 && fds[0].revents != 0) {
    std::uint64_t value = 0;
    [[maybe_unused]] const ssize_t size = read(fd_, &value, sizeof value);
  }
  return error;
}

int Sleeper::sleep(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline) {
  wake_at_.store(deadline);
  const Nanos timeout = time_until(deadline);
  polling_.store(true);
  struct Unlocked {
    Unlocked(Sleeper& of, std::unique_lock<DeviceLock>& its) : sleeper(of), lock(its) { lock.unlock(); }
    ~Unlocked() {
      lock.lock();
      sleeper.stay_awake();
    }
    Sleeper& sleeper;
    std::unique_lock<DeviceLock>& lock;
  };
  const Unlocked unlocked(*this, lock);
  return wait(fds, timeout);
}

bool Sleeper::sleep_with_grace(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline, Nanos grace) {
  wake_at_.store(deadline);
  const Nanos timeout = time_until(deadline);
  for (pollfd& each : fds) each.revents = 0;
  polling_.store(true);
  lock.unlock();
  wait(fds, timeout);
  stay_awake();  // checks for work soon: needs no wake-up
  const auto woken = [](const pollfd& each) { return each.revents != 0; };
  const bool graced = !woken(fds[0]) && std::any_of(fds.begin() + 1, fds.end(), woken);
  if (graced) wait(fds.first(1), grace);
  lock.lock();
  return graced;
}

void Sleeper::nap(std::unique_lock<DeviceLock>& lock, Nanos duration) {
  pollfd kicked{fd_, POLLIN, 0};
  lock.unlock();
  wait({&kicked, 1}, duration);
  lock.lock();
}

WakeEvent::~WakeEvent() {
  if (fd_ >= 0) close(fd_);
}

int WakeEvent::open() {
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ < 0 ? errno : 0;
}

void WakeEvent::signal() {
  if (signalled_.exchange(true)) return;
  const Uncancelled call;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

void WakeEvent::drain() {
  if (!signalled_.load()) return;
  const Uncancelled call;
  std::uint64_t value = 0;
  // Nothing to read: signal() has set the flag and not written yet. The flag stays set for a later drain().
  if (read(fd_, &value, sizeof value) == sizeof value) signalled_.exchange(false);
}

}  // namespace verbs::soft::host
