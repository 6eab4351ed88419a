// Completion channels and their events.
#include <fcntl.h>

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

void destroy_channel(void* object) { ibv_destroy_comp_channel(static_cast<ibv_comp_channel*>(object)); }

}  // namespace

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  if (!abi::is_live(context)) return abi::null_with<ibv_comp_channel>(EINVAL);
  auto channel = std::make_unique<abi::Channel>();
  if (const int error = channel->queue.open()) return abi::null_with<ibv_comp_channel>(error);
  channel->ibv.context = context;
  channel->ibv.fd = channel->queue.fd();
  channel->handle = abi::of(context)->handles.add(channel.get(), destroy_channel);
  return &channel.release()->ibv;
}

int ibv_destroy_comp_channel(ibv_comp_channel* ibv) {
  if (!abi::is_live(ibv)) return EINVAL;
  pthread_mutex_lock(&ibv->context->mutex);
  const bool in_use = ibv->refcnt > 0;
  pthread_mutex_unlock(&ibv->context->mutex);
  if (in_use) return EBUSY;
  abi::of(ibv->context)->adapter->event_waits.detach_waiter(abi::of(ibv)->queue);
  abi::of(ibv->context)->handles.remove(abi::of(ibv)->handle);
  delete abi::of(ibv);
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* ibv, ibv_cq** cq, void** cq_context) {
  host::CompletionChannel& queue = abi::of(ibv)->queue;
  host::Adapter* adapter = abi::of(ibv->context)->adapter;
  host::EventTarget* target = queue.pop();
  while (!target) {
    const bool blocking = (fcntl(ibv->fd, F_GETFL) & O_NONBLOCK) == 0;
    if (const int error =
            blocking ? adapter->event_waits.wait_inline(queue) : adapter->event_waits.fetch(queue, &target)) {
      errno = error;
      return -1;
    }
    if (blocking) target = queue.pop();
  }
  adapter->event_waits.attach_waiter(queue);
  *cq = static_cast<ibv_cq*>(target->ibv);
  *cq_context = (*cq)->cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned int count) {
  if (count == 0) return;
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

}  // extern "C"
