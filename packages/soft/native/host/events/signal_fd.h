// A descriptor that is readable while events are queued: an eventfd that remembers its state, so that a second raise()
// costs no system call. Not thread-safe: its owner's lock guards it.
#pragma once

namespace verbs::soft::host {

class SignalFd {
 public:
  SignalFd() = default;
  ~SignalFd();
  SignalFd(const SignalFd&) = delete;
  SignalFd& operator=(const SignalFd&) = delete;

  int open();  // 0 or errno
  int fd() const { return fd_; }
  void raise();
  void lower();

 private:
  int fd_ = -1;
  bool raised_ = false;
};

}  // namespace verbs::soft::host
