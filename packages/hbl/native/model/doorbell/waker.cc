#include "model/doorbell/waker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace verbs::hbl::model {

Waker::Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Waker::~Waker() {
  if (fd_ >= 0) close(fd_);
}

void Waker::signal() {
  const int saved = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  errno = saved;
}

void Waker::wait(int milliseconds) {
  pollfd entry{fd_, POLLIN, 0};
  if (poll(&entry, 1, milliseconds) <= 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
}

}  // namespace verbs::hbl::model
