#include "abi/queues/shared_receive.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "abi/objects/objects.h"
#include "abi/queues/events.h"

using namespace verbs::soft;

namespace {

void release_srq(abi::Srq* srq) {
  ibv_srq& ibv = srq->ibv;
  abi::of(ibv.context)->handles.remove(&ibv);
  pthread_cond_destroy(&ibv.cond);
  pthread_mutex_destroy(&ibv.mutex);
  delete srq;
}

// Destroys the NIC's SRQ and drops the events that the program has not fetched.
int detach(abi::Srq* srq) {
  const int error = abi::control(srq->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.srqs().destroy(srq->nic);
    if (failure == 0) srq->live.end();
    if (failure != 0) abi::explain_use(srq->ibv.context, nic, nic::Place::kDestroySrq, failure, srq->nic->users);
    return failure;
  });
  if (error != 0) return error;
  srq->events.async->forget(&srq->events);
  return 0;
}

// When the context is closed, no thread acknowledges events any more.
void destroy_srq_unacknowledged(void* object) {
  auto* srq = static_cast<abi::Srq*>(object);
  if (detach(srq) == 0) release_srq(srq);
}

ibv_srq* null_without_parts(ibv_context* context, int error) {
  return abi::null_with<ibv_srq>(abi::refuse(context, nic::Place::kCreateSrq, error, {nic::Reason::kSrqParts}));
}

ibv_srq* create_srq(ibv_context* context, ibv_pd* pd, void* srq_context, ibv_srq_attr* attr,
                    const nic::SrqParts& parts = {}) {
  abi::Uses uses;
  int error = uses.add(context);
  if (error != 0) return abi::null_with<ibv_srq>(error);
  error = abi::use_with(uses, pd, context, ENOENT);
  if (error != 0) return null_without_parts(context, error);
  auto srq = std::make_unique<abi::Srq>();
  ibv_srq& ibv = srq->ibv;
  abi::Handles::Place place(abi::of(context)->handles, &ibv, abi::Kind::kSrq, destroy_srq_unacknowledged);
  srq->events.ibv = &ibv;
  srq->events.async = &abi::of(context)->async;
  error = abi::control(context, [&](nic::Nic& nic, link::Nanos) {
    return nic.srqs().create(abi::of(pd)->nic, attr, &srq->events, &srq->nic, parts);
  });
  if (error != 0) return abi::null_with<ibv_srq>(error);
  srq->is_xrc = parts.xrcd != nullptr;
  ibv.context = context;
  ibv.srq_context = srq_context;
  ibv.pd = pd;
  pthread_mutex_init(&ibv.mutex, nullptr);
  pthread_cond_init(&ibv.cond, nullptr);
  ibv.handle = place.handle();
  srq->live.begin(abi::of(context)->adapter, srq->nic);
  place.publish(abi::users_of(pd));
  return &srq.release()->ibv;
}

}  // namespace

namespace verbs::soft::abi {

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr) {
  const auto has = [attr](std::uint32_t bits) { return (attr->comp_mask & bits) == bits; };
  const ibv_srq_type type = has(IBV_SRQ_INIT_ATTR_TYPE) ? attr->srq_type : IBV_SRQT_BASIC;
  Uses uses;
  if (const int error = uses.add(context)) return null_with<ibv_srq>(error);
  if (attr->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED) return null_with<ibv_srq>(EINVAL);
  if (type != IBV_SRQT_BASIC && type != IBV_SRQT_XRC && type != IBV_SRQT_TM) return null_with<ibv_srq>(EOPNOTSUPP);
  if (!has(IBV_SRQ_INIT_ATTR_PD)) return null_without_parts(context, EINVAL);
  if (type == IBV_SRQT_BASIC) return create_srq(context, attr->pd, attr->srq_context, &attr->attr);
  const bool xrc = type == IBV_SRQT_XRC;
  if (!has(IBV_SRQ_INIT_ATTR_CQ | (xrc ? IBV_SRQ_INIT_ATTR_XRCD : IBV_SRQ_INIT_ATTR_TM))) {
    return null_without_parts(context, EINVAL);
  }
  int error = xrc ? use_with(uses, attr->xrcd, context, ENOENT) : 0;
  if (error == 0) error = use_with(uses, attr->cq, context, ENOENT);
  if (error != 0) return null_without_parts(context, error);
  return create_srq(
      context, attr->pd, attr->srq_context, &attr->attr,
      {.cq = of(attr->cq)->nic, .xrcd = xrc ? of(attr->xrcd)->nic : nullptr, .tags = xrc ? nullptr : &attr->tm_cap});
}

int get_srq_num(ibv_srq* srq, std::uint32_t* number) {
  Uses uses;
  if (const int error = uses.add(srq)) return error;
  *number = of(srq)->nic->number;
  return 0;
}

}  // namespace verbs::soft::abi

extern "C" {

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  return verb([&] {
    const int error = abi::check(pd, ENOENT);
    return error == 0 ? create_srq(pd->context, pd, attr->srq_context, &attr->attr) : abi::null_with<ibv_srq>(error);
  });
}

int ibv_modify_srq(ibv_srq* ibv, ibv_srq_attr* attr, int mask) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(ibv)) return error;
    return abi::control(ibv->context,
                        [&](nic::Nic& nic, link::Nanos) { return nic.srqs().modify(abi::of(ibv)->nic, attr, mask); });
  });
}

int ibv_query_srq(ibv_srq* ibv, ibv_srq_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(ibv)) return error;
    return abi::control(ibv->context,
                        [&](nic::Nic& nic, link::Nanos) { return nic.srqs().query(abi::of(ibv)->nic, attr); });
  });
}

int ibv_destroy_srq(ibv_srq* ibv) {
  return verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(ibv)) return error;
    abi::Srq* srq = abi::of(ibv);
    if (const int error = detach(srq)) return error;
    const auto is_acknowledged = [&] { return ibv->events_completed == srq->events.async_reported; };
    abi::release_acknowledged(*ibv, is_acknowledged, [&] { release_srq(srq); });
    return 0;
  });
}

}  // extern "C"

namespace verbs::soft::abi {
namespace {

void destroy_xrcd(void* object) { close_xrcd(static_cast<ibv_xrcd*>(object)); }

}  // namespace

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
  constexpr std::uint32_t kNeeded = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  Uses uses;
  if (uses.add(context) != 0 || (attr->comp_mask & kNeeded) != kNeeded) return null_with<ibv_xrcd>(EINVAL);
  if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED) return null_with<ibv_xrcd>(EOPNOTSUPP);
  nic::XrcdFile file;
  if (attr->fd != -1) {
    struct stat status{};
    if (fstat(attr->fd, &status) != 0) return null_with<ibv_xrcd>(errno);
    file = {.device = status.st_dev, .inode = status.st_ino};
  }
  auto xrcd = std::make_unique<Xrcd>();
  Handles::Place place(of(context)->handles, &xrcd->ibv, Kind::kXrcd, destroy_xrcd);
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    return nic.xrcds().open(attr->fd != -1 ? &file : nullptr, (attr->oflags & O_CREAT) != 0,
                            (attr->oflags & O_EXCL) != 0, &xrcd->nic);
  });
  if (error != 0) return null_with<ibv_xrcd>(error);
  xrcd->ibv.context = context;
  place.publish();
  return &xrcd.release()->ibv;
}

int close_xrcd(ibv_xrcd* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Xrcd* xrcd = of(ibv);
  const int error = control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.xrcds().close(xrcd->nic);
    if (failure != 0) explain_use(ibv->context, nic, nic::Place::kCloseXrcd, failure, xrcd->nic->users);
    return failure;
  });
  if (error != 0) return error;
  of(ibv->context)->handles.remove(ibv);
  delete xrcd;
  return 0;
}

}  // namespace verbs::soft::abi
