#include "abi/queues/events.h"

#include <fcntl.h>

#include <cerrno>

#include "abi/objects/objects.h"

// Asynchronous events of a context.

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
    case IBV_EVENT_WQ_FATAL: {
      ibv_wq* wq = event->element.wq;
      if (abi::is_known(wq, abi::Kind::kWq)) acknowledge(&wq->mutex, &wq->cond, &wq->events_completed);
      return;
    }
    default:
      return;  // events of the port and the device are not counted
  }
}

}  // extern "C"

// Completion channels and their events.

using namespace verbs::soft;

namespace {

void destroy_channel(void* object) { ibv_destroy_comp_channel(static_cast<ibv_comp_channel*>(object)); }

ibv_comp_channel* create(ibv_context* context) {
  abi::Uses uses;
  if (const int error = uses.add(context)) return abi::null_with<ibv_comp_channel>(error);
  auto channel = std::make_unique<abi::Channel>();
  abi::Handles::Place place(abi::of(context)->handles, &channel->ibv, abi::Kind::kChannel, destroy_channel);
  if (const int error = channel->queue.open()) return abi::null_with<ibv_comp_channel>(error);
  channel->ibv.context = context;
  channel->ibv.fd = channel->queue.fd();
  place.publish();
  return &channel.release()->ibv;
}

int destroy(ibv_comp_channel* ibv) {
  abi::Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  pthread_mutex_lock(&ibv->context->mutex);
  const int users = ibv->refcnt;
  pthread_mutex_unlock(&ibv->context->mutex);
  if (users > 0) {
    return abi::busy(ibv->context, nic::Place::kDestroyCompChannel, static_cast<std::uint64_t>(users));
  }
  abi::of(ibv->context)->adapter->event_waits.detach_waiter(abi::of(ibv)->queue);
  abi::of(ibv->context)->handles.remove(ibv);
  delete abi::of(ibv);
  return 0;
}

int wait_for(host::Adapter& adapter, host::CompletionChannel& queue) {
  const Cancellable wait;
  return adapter.event_waits.wait_inline(queue);
}

int get_event(ibv_comp_channel* ibv, ibv_cq** cq, void** cq_context) {
  if (const int error = abi::check(ibv)) return error;
  host::CompletionChannel& queue = abi::of(ibv)->queue;
  host::Adapter* adapter = abi::of(ibv->context)->adapter;
  host::EventTarget* target = queue.pop();
  while (!target) {
    const bool blocking = (fcntl(queue.fd(), F_GETFL) & O_NONBLOCK) == 0;
    if (const int error = blocking ? wait_for(*adapter, queue) : adapter->event_waits.fetch(queue, &target)) {
      return error;
    }
    if (blocking) target = queue.pop();
  }
  // The event is the program's from here on, whether or not there is memory for that: the next call tries again.
  contain([&] { adapter->event_waits.attach_waiter(queue); }, [](int) {});
  *cq = static_cast<ibv_cq*>(target->ibv);
  *cq_context = (*cq)->cq_context;
  return 0;
}

}  // namespace

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return verb([&] { return create(context); });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return verb([&] { return destroy(channel); });
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  return verb([&] { return get_event(channel, cq, cq_context); }) == 0 ? 0 : -1;
}

// The queue may be in ibv_destroy_cq(), which waits for this.
void ibv_ack_cq_events(ibv_cq* cq, unsigned int count) {
  if (count == 0 || !abi::is_known(cq, abi::Kind::kCq)) return;
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

}  // extern "C"
