// A descriptor from which a program takes messages: a socket, so that it may wait for one, read it by itself or make
// the descriptor non-blocking, as with the kernel's.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <utility>

#include "verbs_soft_cancel.h"

namespace verbs::mlx5::model {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

class MessageChannel {
 public:
  // 0 or errno.
  int open() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    reader_ = Descriptor(ends[0]);
    writer_ = Descriptor(ends[1]);
    return 0;
  }
  int fd() const { return reader_.get(); }
  // False: the program has taken none for long, and there is no room.
  bool send(std::span<const std::uint8_t> message) const {
    const ssize_t sent = ::send(writer_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(message.size());
  }

 private:
  Descriptor reader_, writer_;
};

// Waits for a message of a channel, unless the program has made its descriptor non-blocking. Its size, or -1 and errno;
// with `too_short` it does not fit, and stays.
inline ssize_t receive_message(int fd, void* to, std::size_t size, int too_short) {
  const soft::Cancellable wait;
  std::uint8_t first = 0;
  const ssize_t length = recv(fd, &first, 1, MSG_PEEK | MSG_TRUNC);
  if (length < 0) return -1;
  if (static_cast<std::size_t>(length) > size) {
    errno = too_short;
    return -1;
  }
  return recv(fd, to, size, 0);
}

}  // namespace verbs::mlx5::model
