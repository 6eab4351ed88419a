// The queue of a context's asynchronous events.
#pragma once

#include <infiniband/verbs.h>

#include <deque>

#include "host/events/completion_channel.h"

namespace verbs::soft::host {

class AsyncQueue final : public EventSource {
 public:
  void push(const ibv_async_event& event, EventTarget* target);  // target: nullptr for events of the port or device
  bool pop(ibv_async_event* event);                              // false when empty
  // Removes the events of an object that is destroyed.
  void forget(const EventTarget* target);

 private:
  struct Entry {
    ibv_async_event event;
    EventTarget* target;
  };
  std::deque<Entry> entries_;
};

}  // namespace verbs::soft::host
