// Completion channels and their events.
#include <fcntl.h>

#include <cerrno>

#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

void destroy(void* object) { ibv_destroy_comp_channel(static_cast<ibv_comp_channel*>(object)); }

}  // namespace

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  if (!abi::is_live(context)) return abi::null_with<ibv_comp_channel>(EINVAL);
  auto channel = std::make_unique<abi::Channel>();
  if (const int error = channel->queue.open()) return abi::null_with<ibv_comp_channel>(error);
  channel->face.context = context;
  channel->face.fd = channel->queue.fd();
  channel->handle = abi::of(context)->handles.add(channel.get(), destroy);
  return &channel.release()->face;
}

int ibv_destroy_comp_channel(ibv_comp_channel* face) {
  if (!abi::is_live(face)) return EINVAL;
  pthread_mutex_lock(&face->context->mutex);
  const bool in_use = face->refcnt > 0;
  pthread_mutex_unlock(&face->context->mutex);
  if (in_use) return EBUSY;
  abi::of(face->context)->adapter->release(abi::of(face)->queue);
  abi::of(face->context)->handles.remove(abi::of(face)->handle);
  delete abi::of(face);
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* face, ibv_cq** cq, void** cq_context) {
  host::CompletionChannel& queue = abi::of(face)->queue;
  host::Adapter* adapter = abi::of(face->context)->adapter;
  host::EventTarget* target = queue.pop();
  while (!target) {
    const bool blocking = (fcntl(face->fd, F_GETFL) & O_NONBLOCK) == 0;
    if (const int error = blocking ? adapter->wait(queue) : adapter->fetch(queue, &target)) {
      errno = error;
      return -1;
    }
    if (blocking) target = queue.pop();
  }
  adapter->attend(queue);
  *cq = static_cast<ibv_cq*>(target->face);
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
