// The rule that a QP or SRQ is not gone before its asynchronous events are acknowledged.
#pragma once

#include <pthread.h>

#include "host/events/event_queue.h"

namespace verbs::soft::abi {

// Blocks until ibv_ack_async_event() was called for every event of `face` (an ibv_qp or ibv_srq) that was handed out.
// Call it after the event queue forgot the object.
template <typename Face>
void wait_for_acknowledgements(Face& face, const host::EventTarget& events) {
  pthread_mutex_lock(&face.mutex);
  while (face.events_completed != events.async_reported) pthread_cond_wait(&face.cond, &face.mutex);
  pthread_mutex_unlock(&face.mutex);
}

}  // namespace verbs::soft::abi
