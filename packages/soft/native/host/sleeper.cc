#include "sleeper.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace verbs::soft::host {

Sleeper::~Sleeper() {
  if (fd_ >= 0) close(fd_);
}

int Sleeper::open() {
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ < 0 ? errno : 0;
}

void Sleeper::kick() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);  // full means kicked already
}

int Sleeper::wait(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos timeout) {
  const timespec time{static_cast<time_t>(timeout / 1'000'000'000), static_cast<long>(timeout % 1'000'000'000)};
  lock.unlock();
  const int ready = ppoll(fds.data(), fds.size(), timeout == kForever ? nullptr : &time, nullptr);
  const int error = ready < 0 ? errno : 0;
  if (ready > 0 && fds[0].revents != 0) {
    std::uint64_t value = 0;
    [[maybe_unused]] const ssize_t size = read(fd_, &value, sizeof value);
  }
  lock.lock();
  return error;
}

int Sleeper::sleep(std::unique_lock<DeviceLock>& lock, std::span<pollfd> fds, Nanos deadline) {
  wake_at_.store(deadline);
  const Nanos timeout = deadline == kForever ? kForever : std::max<Nanos>(deadline - now(), 0);
  const int error = wait(lock, fds, timeout);
  wake_at_.store(kAwake);
  return error;
}

void Sleeper::nap(std::unique_lock<DeviceLock>& lock, Nanos duration) {
  pollfd kicked{fd_, POLLIN, 0};
  wait(lock, {&kicked, 1}, duration);
}

}  // namespace verbs::soft::host
