#include <cerrno>

#include "control_verbs.h"
#include "driver.h"
#include "objects.h"

using namespace verbs::soft;

namespace {

void wait_for_acknowledgements(abi::Cq* cq) {
  ibv_cq& face = cq->face;
  pthread_mutex_lock(&face.mutex);
  while (face.comp_events_completed != cq->events.completions_reported ||
         face.async_events_completed != cq->events.async_reported) {
    pthread_cond_wait(&face.cond, &face.mutex);
  }
  pthread_mutex_unlock(&face.mutex);
}

void release(abi::Cq* cq) {
  ibv_cq& face = cq->face;
  if (face.channel) {
    pthread_mutex_lock(&face.context->mutex);
    --face.channel->refcnt;
    pthread_mutex_unlock(&face.context->mutex);
  }
  abi::of(face.context)->handles.remove(face.handle);
  pthread_cond_destroy(&face.cond);
  pthread_mutex_destroy(&face.mutex);
  delete cq;
}

// Takes the CQ from the NIC and drops the events that nobody has fetched.
int detach(abi::Cq* cq) {
  const int error = abi::control(cq->face.context, [&](nic::Nic& nic, link::Nanos) { return nic.destroy_cq(cq->nic); });
  if (error != 0) return error;
  if (cq->events.channel) cq->events.channel->forget(&cq->events);
  cq->events.async->forget(&cq->events);
  return 0;
}

// At the close of the context nobody is left to acknowledge anything.
void destroy_unacknowledged(void* object) {
  auto* cq = static_cast<abi::Cq*>(object);
  if (detach(cq) == 0) release(cq);
}

}  // namespace

extern "C" {

void verbs_init_cq(ibv_cq* cq, ibv_context* context, ibv_comp_channel* channel, void* cq_context) {
  cq->context = context;
  cq->channel = channel;
  cq->cq_context = cq_context;
  cq->comp_events_completed = cq->async_events_completed = 0;
  pthread_mutex_init(&cq->mutex, nullptr);
  pthread_cond_init(&cq->cond, nullptr);
  if (!channel) return;
  pthread_mutex_lock(&context->mutex);
  ++channel->refcnt;
  pthread_mutex_unlock(&context->mutex);
}

ibv_cq* soft_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
  if (channel && !abi::is_usable(channel, context)) return abi::null_with<ibv_cq>(EINVAL);
  if (comp_vector < 0 || comp_vector >= context->num_comp_vectors) return abi::null_with<ibv_cq>(EINVAL);
  auto cq = std::make_unique<abi::Cq>();
  ibv_cq& face = cq->face;
  cq->adapter = abi::of(context)->adapter;
  cq->events.face = &face;
  cq->events.channel = channel ? &abi::of(channel)->queue : nullptr;
  cq->events.async = &abi::of(context)->async;
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.create_cq(cqe, &cq->events, &cq->nic);
    if (failure == 0) face.cqe = nic::cqe_of(cq->nic);
    return failure;
  });
  if (error != 0) return abi::null_with<ibv_cq>(error);
  verbs_init_cq(&face, context, channel, cq_context);
  face.handle = abi::of(context)->handles.add(cq.get(), destroy_unacknowledged);
  return &cq.release()->face;
}

int ibv_resize_cq(ibv_cq*, int) { return EOPNOTSUPP; }

int soft_destroy_cq(ibv_cq* face) {
  abi::Cq* cq = abi::of(face);
  if (const int error = detach(cq)) return error;
  wait_for_acknowledgements(cq);
  release(cq);
  return 0;
}

}  // extern "C"
