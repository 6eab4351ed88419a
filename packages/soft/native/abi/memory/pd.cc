#include <cerrno>

#include "abi/memory/parent_domain.h"
#include "abi/model/control_verbs.h"
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
  const int error = abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) { return nic.pds().dealloc(pd->nic); });
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
