// A descriptor that any thread makes readable, to say that there is work. Rung twice it costs one system call.
#pragma once

#include <atomic>

namespace verbs::soft::host {

class Bell {
 public:
  Bell() = default;
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  int open();  // 0 or errno
  int fd() const { return fd_; }
  void ring();
  // One thread at a time, before it looks for the work: what was there before a ring that is lost here is seen then.
  void hush();

 private:
  int fd_ = -1;
  std::atomic<bool> rung_{false};
};

}  // namespace verbs::soft::host
