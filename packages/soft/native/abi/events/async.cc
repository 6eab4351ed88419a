// Asynchronous events of a context.
#include <fcntl.h>

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

// The objects may be in a destroy call that waits for the acknowledgement.
void acknowledge(pthread_mutex_t* mutex, pthread_cond_t* cond, std::uint32_t* completed) {
  pthread_mutex_lock(mutex);
  ++*completed;
  pthread_cond_signal(cond);
  pthread_mutex_unlock(mutex);
}

int get_async_event(ibv_context* context, ibv_async_event* event) {
  if (const int error = abi::check(context)) return error;
  host::AsyncQueue& queue = abi::of(context)->async;
  while (!queue.pop(event)) {
    if (fcntl(queue.fd(), F_GETFL) & O_NONBLOCK) return EAGAIN;
    const Cancellable wait;
    if (const int error = abi::of(context)->adapter->event_waits.wait(queue)) return error;
  }
  return 0;
}

}  // namespace

extern "C" {

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return verb([&] { return get_async_event(context, event); }) == 0 ? 0 : -1;
}

void ibv_ack_async_event(ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
      ibv_cq* cq = event->element.cq;
      if (abi::is_known(cq, abi::Kind::kCq)) acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
      return;
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
      ibv_qp* qp = event->element.qp;
      if (abi::is_known(qp, abi::Kind::kQp)) acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
      return;
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
      ibv_srq* srq = event->element.srq;
      if (abi::is_known(srq, abi::Kind::kSrq)) acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
      return;
    }
    default:
      return;  // events of the port and the device are not counted, and there are no receive work queues
  }
}

}  // extern "C"
