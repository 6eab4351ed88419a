// The common part of a completion channel and a queue of asynchronous events: a thread can wait for an event. Each has
// a descriptor that is readable exactly while events are queued, and a lock of its own: events are queued under the
// device's lock and taken without it.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "host/events/signal_fd.h"

namespace verbs::soft::host {

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual int open() { return signal_.open(); }  // 0 or errno
  // The descriptor that the program has.
  virtual int fd() const { return signal_.fd(); }
  int signal() const { return signal_.fd(); }
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 protected:
  std::mutex mutex_;
  SignalFd signal_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace verbs::soft::host
