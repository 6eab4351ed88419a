// Asynchronous events of a context.
#include <fcntl.h>

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

void acknowledge(pthread_mutex_t* mutex, pthread_cond_t* cond, std::uint32_t* completed) {
  pthread_mutex_lock(mutex);
  ++*completed;
  pthread_cond_signal(cond);
  pthread_mutex_unlock(mutex);
}

}  // namespace

extern "C" {

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  host::AsyncQueue& queue = abi::of(context)->async;
  while (!queue.pop(event)) {
    if (fcntl(context->async_fd, F_GETFL) & O_NONBLOCK) {
      errno = EAGAIN;
      return -1;
    }
    if (const int error = abi::of(context)->adapter->event_waits.wait(queue)) {
      errno = error;
      return -1;
    }
  }
  return 0;
}

void ibv_ack_async_event(ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
      ibv_cq* cq = event->element.cq;
      return acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
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
      return acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
      ibv_srq* srq = event->element.srq;
      return acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
    }
    case IBV_EVENT_WQ_FATAL: {
      ibv_wq* wq = event->element.wq;
      return acknowledge(&wq->mutex, &wq->cond, &wq->events_completed);
    }
    default:
      return;  // events of the port and the device are not counted
  }
}

}  // extern "C"
