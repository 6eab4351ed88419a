#include "host/events/wait_set.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "verbs_soft_cancel.h"

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
