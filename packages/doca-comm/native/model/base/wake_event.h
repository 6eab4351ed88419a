// What wakes a thread that waits in poll().
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace verbs::doca_comm::model {

// An eventfd: readable from signal() until drain().
class WakeEvent {
 public:
  WakeEvent() = default;
  ~WakeEvent() { close(); }
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  int open() {  // 0 or errno
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd_ < 0 ? errno : 0;
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int fd() const { return fd_; }
  bool signal() { return fd_ >= 0 && eventfd_write(fd_, 1) == 0; }
  void drain() {
    eventfd_t count = 0;
    eventfd_read(fd_, &count);
  }

 private:
  int fd_ = -1;
};

}  // namespace verbs::doca_comm::model
