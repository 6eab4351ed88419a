// A QP or SRQ is destroyed only when all its asynchronous events are acknowledged.
#pragma once

#include <pthread.h>

#include "host/events/event_target.h"

namespace verbs::soft::abi {

// Blocks until ibv_ack_async_event() was called for every event of `ibv` (an ibv_qp or ibv_srq) that the program
// received. Called after AsyncQueue::forget().
template <typename Object>
void wait_for_acknowledgements(Object& ibv, const host::EventTarget& events) {
  pthread_mutex_lock(&ibv.mutex);
  while (ibv.events_completed != events.async_reported) pthread_cond_wait(&ibv.cond, &ibv.mutex);
  pthread_mutex_unlock(&ibv.mutex);
}

}  // namespace verbs::soft::abi
