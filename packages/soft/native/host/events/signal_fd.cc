#include "host/events/signal_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "verbs_soft_cancel.h"

namespace verbs::soft::host {

SignalFd::~SignalFd() {
  if (fd_ >= 0) close(fd_);
}

int SignalFd::open() {
  // Blocking, as the descriptor of a real completion channel is; its user may set O_NONBLOCK.
  fd_ = eventfd(0, EFD_CLOEXEC);
  return fd_ < 0 ? errno : 0;
}

void SignalFd::raise() {
  if (raised_) return;
  const Uncancelled call;
  const std::uint64_t one = 1;
  raised_ = write(fd_, &one, sizeof one) == sizeof one;
}

void SignalFd::lower() {
  if (!raised_) return;
  const Uncancelled call;
  std::uint64_t value = 0;
  raised_ = read(fd_, &value, sizeof value) != sizeof value;  // does not block: the counter is one
}

}  // namespace verbs::soft::host
