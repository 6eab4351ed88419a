// An event channel of DOCA: a descriptor that becomes readable after a completion of an armed completion queue, after
// signal(), or when a packet arrived that may lead to a completion. The user polls it and never reads it; arming it
// again clears it. An idle program is not woken by keep-alives, but for the first one after a silence.
#pragma once

#include <infiniband/verbs.h>

#include "model/base/wake_event.h"

namespace verbs::doca_comm::model {

class EventChannel {
 public:
  EventChannel() = default;
  ~EventChannel() { close(); }
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  // 0 or errno. Without a context there is no completion channel behind it, and only signal() makes it readable.
  int open(ibv_context* context);
  // The same in another's epoll set, in place of a descriptor of its own.
  int open_in(int set, ibv_context* context);
  void close();
  int fd() const { return fd_; }
  ibv_comp_channel* completion_channel() const { return channel_; }
  void signal();
  // Revokes signal().
  void clear();

 private:
  ibv_comp_channel* channel_ = nullptr;
  WakeEvent wake_;
  int fd_ = -1;  // an epoll set of both
  bool signaled_ = false;
};

}  // namespace verbs::doca_comm::model
