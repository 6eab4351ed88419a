#include "host/events/wait_set.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

namespace verbs::soft::host {

namespace {

int add(int set, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

}  // namespace

WaitSet::~WaitSet() {
  if (fd_ >= 0) close(fd_);
}

int WaitSet::open(int signal) {
  fd_ = epoll_create1(EPOLL_CLOEXEC);
  return fd_ < 0 ? errno : add(fd_, signal);
}

bool WaitSet::attach(std::span<const int> fds) {
  detach();
  guests_.reserve(fds.size());
  for (const int fd : fds) {
    if (add(fd_, fd) != 0) {
      detach();
      return false;
    }
    guests_.push_back(fd);
  }
  attached_.store(true, std::memory_order_relaxed);
  return true;
}

void WaitSet::detach() {
  for (const int fd : guests_) epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
  guests_.clear();
  attached_.store(false, std::memory_order_relaxed);
}

}  // namespace verbs::soft::host
