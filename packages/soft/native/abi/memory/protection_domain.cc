#include "abi/memory/protection_domain.h"

#include <cerrno>

#include "abi/model/extension.h"
#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

void destroy_pd(void* object) { ibv_dealloc_pd(static_cast<ibv_pd*>(object)); }
void delete_pd(void* ibv) { delete static_cast<abi::Pd*>(ibv); }

int dealloc_pd(ibv_pd* ibv) {
  abi::Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  abi::Pd* pd = abi::of(ibv);
  if (pd->is_parent_domain) return abi::dealloc_parent_domain(pd);
  const int error = abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = nic.pds().dealloc(pd->nic);
    if (failure != 0) abi::explain_use(ibv->context, nic, nic::Place::kDeallocPd, failure, pd->nic->users);
    return failure;
  });
  if (error != 0) return error;
  abi::of(ibv->context)->handles.remove(ibv);
  delete pd;
  return 0;
}

ibv_pd* import_pd(ibv_context* context, std::uint32_t handle) {
  abi::Uses uses;
  if (const int error = uses.add(context)) return abi::null_with<ibv_pd>(error);
  abi::Handles& handles = abi::of(context)->handles;
  const auto* known = static_cast<const abi::Pd*>(uses.add(handles, handle, abi::Kind::kPd));
  if (!known) return abi::null_with<ibv_pd>(ENOENT);
  auto pd = std::make_unique<abi::Pd>();
  pd->ibv = {.context = context, .handle = handle};
  pd->nic = known->nic;
  handles.add_import(handle, pd.get(), delete_pd);
  return &pd.release()->ibv;
}

}  // namespace

extern "C" {

ibv_pd* soft_alloc_pd(ibv_context* context) {
  return verb([&] {
    auto pd = std::make_unique<abi::Pd>();
    abi::Handles::Place place(abi::of(context)->handles, pd.get(), abi::Kind::kPd, destroy_pd, delete_pd);
    const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) { return nic.pds().alloc(&pd->nic); });
    if (error != 0) return abi::null_with<ibv_pd>(error);
    pd->ibv = {.context = context, .handle = place.handle()};
    place.publish();
    return &pd.release()->ibv;
  });
}

int ibv_dealloc_pd(ibv_pd* ibv) {
  return verb([&] { return dealloc_pd(ibv); });
}

ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
  return verb([&] { return import_pd(context, handle); });
}

void ibv_unimport_pd(ibv_pd* ibv) { abi::Handles::unimport(ibv); }

}  // extern "C"

namespace verbs::soft::abi {

namespace {

void destroy_td(void* object) { dealloc_td(static_cast<ibv_td*>(object)); }
void destroy_domain(void* object) { ibv_dealloc_pd(static_cast<ibv_pd*>(object)); }

bool is_complete(const ibv_parent_domain_init_attr& attr) {
  // There is no guest whose memory the device could not reach: unprotected memory may be allowed, and is not needed.
  constexpr std::uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
                                   later::kParentDomainAllowUnprotected;
  const bool allocates = (attr.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
  return (attr.comp_mask & ~kKnown) == 0 && (!allocates || (attr.alloc && attr.free));
}

}  // namespace

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) {
  Uses uses;
  if (uses.add(context) != 0 || attr->comp_mask != 0) return null_with<ibv_td>(EINVAL);
  auto td = std::make_unique<Td>();
  Handles::Place place(of(context)->handles, &td->ibv, Kind::kTd, destroy_td);
  td->ibv.context = context;
  place.publish();
  return &td.release()->ibv;
}

int dealloc_td(ibv_td* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  if (const std::uint32_t users = of(ibv)->users; users != 0) return busy(ibv->context, nic::Place::kDeallocTd, users);
  of(ibv->context)->handles.remove(ibv);
  delete of(ibv);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  Uses uses;
  if (uses.add(context) != 0 || !is_complete(*attr) || use_with(uses, attr->pd, context) != 0 ||
      of(attr->pd)->is_parent_domain || (attr->td && use_with(uses, attr->td, context) != 0)) {
    return null_with<ibv_pd>(EINVAL);
  }
  auto pd = std::make_unique<Pd>();
  Handles::Place place(of(context)->handles, &pd->ibv, Kind::kPd, destroy_domain);
  pd->is_parent_domain = true;
  pd->nic = of(attr->pd)->nic;
  pd->ibv = {.context = context, .handle = attr->pd->handle};
  const int error = control(context, [&](nic::Nic& nic, link::Nanos) {
    nic.pds().retain(pd->nic);
    return 0;
  });
  if (error != 0) return null_with<ibv_pd>(error);
  if (attr->td) {
    pd->td = of(attr->td);
    ++pd->td->users;
  }
  place.publish();
  return &pd.release()->ibv;
}

int dealloc_parent_domain(Pd* pd) {
  if (const std::uint32_t users = pd->users; users != 0) {
    return busy(pd->ibv.context, nic::Place::kDeallocPd, users);
  }
  const int error = control(pd->ibv.context, [&](nic::Nic& nic, link::Nanos) {
    nic.pds().release(pd->nic);
    return 0;
  });
  if (error != 0) return error;
  if (pd->td) --pd->td->users;
  of(pd->ibv.context)->handles.remove(&pd->ibv);
  delete pd;
  return 0;
}

}  // namespace verbs::soft::abi
