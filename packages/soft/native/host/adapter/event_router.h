// Takes the NIC's events to the completion channels and the contexts. Used under the device's lock.
#pragma once

#include <vector>

#include "host/events/async_queue.h"
#include "nic/shared/event.h"

namespace verbs::soft::host {

class EventRouter final : public nic::EventSink {
 public:
  // Contexts receive the events of ports and of the device.
  void add_context(AsyncQueue* queue) { contexts_.push_back(queue); }
  void remove_context(AsyncQueue* queue) { std::erase(contexts_, queue); }

  void completion(nic::Cq* cq) override;
  void async(const nic::AsyncEvent& event) override;

 private:
  std::vector<AsyncQueue*> contexts_;
};

}  // namespace verbs::soft::host
