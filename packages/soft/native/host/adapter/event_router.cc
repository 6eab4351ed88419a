#include "host/adapter/event_router.h"

#include "host/events/completion_channel.h"
#include "nic/nic.h"

namespace verbs::soft::host {

void EventRouter::completion(nic::Cq* cq) {
  auto* target = static_cast<EventTarget*>(cq->owner);
  if (target->channel) target->channel->push(target);
}

void EventRouter::async(const nic::AsyncEvent& event) {
  ibv_async_event reported{};
  reported.event_type = event.type;
  EventTarget* target = nullptr;
  if (event.qp) {
    target = static_cast<EventTarget*>(event.qp->owner);
    for (EventTarget* other = target->sharing; other; other = other->sharing) {
      reported.element.qp = static_cast<ibv_qp*>(other->ibv);
      other->async->push(reported, other);
    }
    reported.element.qp = static_cast<ibv_qp*>(target->ibv);
  } else if (event.cq) {
    target = static_cast<EventTarget*>(event.cq->owner);
    reported.element.cq = static_cast<ibv_cq*>(target->ibv);
  } else if (event.srq) {
    target = static_cast<EventTarget*>(event.srq->owner);
    reported.element.srq = static_cast<ibv_srq*>(target->ibv);
  } else {
    reported.element.port_num = event.port_num;
    for (const Context& context : contexts_) context.queue->push(reported, nullptr);
    return;
  }
  target->async->push(reported, target);
}

}  // namespace verbs::soft::host
