#include "host/progress/wake_event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "verbs_soft_cancel.h"

namespace verbs::soft::host {

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
