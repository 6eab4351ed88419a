// A descriptor whose last close() sleeps: a TCP socket with unsent data that lingers.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <utility>

#include "link/doors/door.h"

namespace verbs::soft::link::test {

class LingeringSocket {
 public:
  static constexpr int kSeconds = 8;

  LingeringSocket() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* at = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = bind(listener, at, size) == 0 && listen(listener, 1) == 0 &&
                           getsockname(listener, at, &size) == 0 && connect(fd_, at, size) == 0;
    reader_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(listener);
    static const char kData[65536] = {};
    while (connected && send(fd_, kData, sizeof kData, MSG_DONTWAIT) > 0) {
    }
    const linger sleep{.l_onoff = 1, .l_linger = kSeconds};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &sleep, sizeof sleep);
  }
  ~LingeringSocket() {
    ::close(reader_);  // so that the other end lingers no longer
    if (fd_ >= 0) close_elsewhere(fd_);
  }
  LingeringSocket(const LingeringSocket&) = delete;
  LingeringSocket& operator=(const LingeringSocket&) = delete;

  // Sends it with a message, and keeps none. False: the kernel refuses.
  bool send_by(int socket, const void* message, std::size_t message_size) {
    iovec piece{const_cast<void*>(message), message_size};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof fd_)] = {};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof fd_);
    std::memcpy(CMSG_DATA(control), &fd_, sizeof fd_);
    if (sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(message_size)) return false;
    close_elsewhere(std::exchange(fd_, -1));  // the last one, if the receiver has closed its own already
    return true;
  }

 private:
  int fd_ = -1;
  int reader_ = -1;
};

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace verbs::soft::link::test
