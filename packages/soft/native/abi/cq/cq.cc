#include "abi/cq/cq.h"

#include <cerrno>

#include "abi/driver/driver.h"
#include "abi/events/acknowledgement.h"
#include "abi/model/control_verbs.h"

using namespace verbs::soft;

namespace {

bool is_acknowledged(const abi::Cq* cq) {
  return cq->ibv.comp_events_completed == cq->events.completions_reported &&
         cq->ibv.async_events_completed == cq->events.async_reported;
}

void release(abi::Cq* cq) {
  ibv_cq& ibv = cq->ibv;
  if (cq->channel) {
    pthread_mutex_lock(&ibv.context->mutex);
    --cq->channel->refcnt;
    pthread_mutex_unlock(&ibv.context->mutex);
  }
  abi::of(ibv.context)->handles.remove(&ibv);
  pthread_cond_destroy(&ibv.cond);
  pthread_mutex_destroy(&ibv.mutex);
  delete cq;
}

// Destroys the NIC's CQ and drops the events that the program has not fetched.
int detach(abi::Cq* cq) {
  const int error = abi::control(cq->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.cqs().destroy(cq->nic);
    if (failure == 0) cq->live.end();
    return failure;
  });
  if (error != 0) return error;
  if (cq->events.channel) cq->events.channel->forget(&cq->events);
  cq->events.async->forget(&cq->events);
  return 0;
}

// When the context is closed, no thread acknowledges events any more.
void destroy_unacknowledged(void* object) {
  auto* cq = static_cast<abi::Cq*>(object);
  if (detach(cq) == 0) release(cq);
}

int resize_cq(ibv_cq* ibv, int cqe) {
  abi::Uses uses;
  if (const int error = uses.add(ibv)) return error;
  return abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
    const int error = nic.cqs().resize(abi::of(ibv)->nic, cqe);
    ibv->cqe = abi::of(ibv)->nic->cqe();
    return error;
  });
}

}  // namespace

namespace verbs::soft::abi {

Cq* create_cq(ibv_context* context, const ibv_cq_init_attr_ex& attr, const nic::CqOptions& options) {
  Uses uses;
  if (int error = uses.add(context); error != 0 || (attr.channel && (error = use_with(uses, attr.channel, context)))) {
    return null_with<Cq>(error);
  }
  if (attr.comp_vector >= static_cast<std::uint32_t>(context->num_comp_vectors)) return null_with<Cq>(EINVAL);
  if (attr.cqe > INT32_MAX) return null_with<Cq>(EINVAL);
  auto cq = std::make_unique<Cq>();
  ibv_cq& ibv = cq->ibv;
  Handles::Place place(of(context)->handles, &ibv, Kind::kCq, destroy_unacknowledged);
  cq->events.ibv = &ibv;
  cq->events.channel = attr.channel ? &of(attr.channel)->queue : nullptr;
  cq->events.async = &of(context)->async;
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.cqs().create(static_cast<int>(attr.cqe), &cq->events, &cq->nic, options);
    if (failure == 0) ibv.cqe = cq->nic->cqe();
    return failure;
  });
  if (error != 0) return null_with<Cq>(error);
  verbs_init_cq(&ibv, context, attr.channel, attr.cq_context);
  cq->channel = attr.channel;
  ibv.handle = place.handle();
  cq->live.begin(of(context)->adapter, cq->nic);
  place.publish(attr.parent_domain ? users_of(attr.parent_domain) : nullptr);
  return cq.release();
}

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
  Uses uses;
  if (const int error = uses.add(cq)) return error;
  if (attr->attr_mask != IBV_CQ_ATTR_MODERATE) return EINVAL;
  return control(cq->context, [&](nic::Nic&, link::Nanos) {
    of(cq)->nic->moderate(attr->moderate.cq_count, link::Nanos{attr->moderate.cq_period} * 1000);
    return 0;
  });
}

}  // namespace verbs::soft::abi

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
  // A negative number becomes one that is too large.
  ibv_cq_init_attr_ex attr{};
  attr.cqe = static_cast<std::uint32_t>(cqe);
  attr.cq_context = cq_context;
  attr.channel = channel;
  attr.comp_vector = static_cast<std::uint32_t>(comp_vector);
  return verb([&] {
    abi::Cq* cq = abi::create_cq(context, attr, {});
    return cq ? &cq->ibv : nullptr;
  });
}

int ibv_resize_cq(ibv_cq* ibv, int cqe) {
  return verb([&] { return resize_cq(ibv, cqe); });
}

int soft_destroy_cq(ibv_cq* ibv) {
  return verb([&] {
    abi::Cq* cq = abi::of(ibv);
    if (const int error = detach(cq)) return error;
    abi::release_acknowledged(*ibv, [&] { return is_acknowledged(cq); }, [&] { release(cq); });
    return 0;
  });
}

}  // extern "C"
