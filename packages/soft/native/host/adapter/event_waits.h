// Waiting for events, with progress while a thread waits. The calls return 0 or an errno value.
#pragma once

#include "host/adapter/device_core.h"
#include "host/events/completion_channel.h"

namespace verbs::soft::host {

class EventWaits {
 public:
  explicit EventWaits(DeviceCore& core) : core_(core) {}

  // Blocks until `source` has an event.
  int wait(EventSource& source);
  // The same, for a program that calls ibv_get_cq_event() and does not wait through the descriptor.
  int wait_inline(CompletionChannel& channel);
  // The next event of a channel that a program waits for through the descriptor, from now on as a waiter (progress.h).
  // Makes progress to get an event; EAGAIN if there is none.
  int fetch(CompletionChannel& channel, EventTarget** target);
  // The program has an event of the channel: attaches its wait set if the program accepts EAGAIN.
  void attach_waiter(CompletionChannel& channel);
  // Before the channel is destroyed.
  void detach_waiter(CompletionChannel& channel);

 private:
  void leave_to_helper(CompletionChannel& channel, Nanos time);

  DeviceCore& core_;
};

}  // namespace verbs::soft::host
