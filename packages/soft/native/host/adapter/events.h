// Where the events of an adapter go: its queues of events, and the threads that wait for one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/adapter/device_core.h"
#include "host/events/async_queue.h"
#include "host/events/completion_channel.h"
#include "nic/base/limits.h"

namespace verbs::soft::host {

// Takes the NIC's events to the completion channels and the contexts. Used under the device's lock.

class EventRouter final : public nic::EventSink {
 public:
  struct Context {
    AsyncQueue* queue;
    std::uint32_t number;  // of the device, from 1 on, in the order of opening
  };
  explicit EventRouter(std::string device) : device_(std::move(device)) {}

  // Contexts receive the events of ports and of the device.
  void add_context(AsyncQueue* queue) { contexts_.push_back({queue, ++last_number_}); }
  void remove_context(AsyncQueue* queue) {
    std::erase_if(contexts_, [queue](const Context& context) { return context.queue == queue; });
  }
  const std::vector<Context>& contexts() const { return contexts_; }

  void completion(nic::Cq* cq) override;
  void async(const nic::AsyncEvent& event) override;
  void explained(nic::ReasonEvent& event) override;

 private:
  std::string device_;
  std::vector<Context> contexts_;
  std::uint32_t last_number_ = 0;
};

// Waiting for events, with progress while a thread waits. The calls return 0 or an errno value.

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
