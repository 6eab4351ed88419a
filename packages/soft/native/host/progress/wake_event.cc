#include "host/progress/wake_event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace verbs::soft::host {

Bell::~Bell() {
  if (fd_ >= 0) close(fd_);
}

int Bell::open() {
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd_ < 0 ? errno : 0;
}

void Bell::ring() {
  if (rung_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

void Bell::hush() {
  if (!rung_.load()) return;
  std::uint64_t value = 0;
  // Nothing to read: whoever rings has not come to write yet. It stays rung until a later call reads it.
  if (read(fd_, &value, sizeof value) == sizeof value) rung_.exchange(false);
}

}  // namespace verbs::soft::host
