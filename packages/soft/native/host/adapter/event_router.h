// Takes the NIC's events to the completion channels and the contexts. Used under the device's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "host/events/async_queue.h"
#include "nic/shared/event.h"

namespace verbs::soft::host {

class EventRouter final : public nic::EventSink {
 public:
  struct Context {
    AsyncQueue* queue;
    std::uint32_t number;  // of the device, from 1 on, in the order of opening
  };
  // Contexts receive the events of ports and of the device.
  void add_context(AsyncQueue* queue) { contexts_.push_back({queue, ++last_number_}); }
  void remove_context(AsyncQueue* queue) {
    std::erase_if(contexts_, [queue](const Context& context) { return context.queue == queue; });
  }
  const std::vector<Context>& contexts() const { return contexts_; }

  void completion(nic::Cq* cq) override;
  void async(const nic::AsyncEvent& event) override;

 private:
  std::vector<Context> contexts_;
  std::uint32_t last_number_ = 0;
};

}  // namespace verbs::soft::host
