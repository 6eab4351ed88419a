#include <cerrno>

#include "abi/memory/parent_domain.h"
#include "abi/model/control_verbs.h"
#include "abi/objects/objects.h"

using namespace verbs::soft;

namespace {

void destroy(void* object) { ibv_dealloc_pd(static_cast<ibv_pd*>(object)); }
void free_face(void* face) { delete static_cast<abi::Pd*>(face); }

}  // namespace

extern "C" {

ibv_pd* soft_alloc_pd(ibv_context* context) {
  auto pd = std::make_unique<abi::Pd>();
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) { return nic.alloc_pd(&pd->nic); });
  if (error != 0) return abi::null_with<ibv_pd>(error);
  pd->face.context = context;
  pd->face.handle = abi::of(context)->handles.add_importable(pd.get(), destroy, abi::Kind::kPd, free_face);
  return &pd.release()->face;
}

int ibv_dealloc_pd(ibv_pd* face) {
  if (!abi::is_live(face)) return EINVAL;
  abi::Pd* pd = abi::of(face);
  if (pd->is_parent_domain) return abi::dealloc_parent_domain(pd);
  const int error = abi::control(face->context, [&](nic::Nic& nic, link::Nanos) { return nic.dealloc_pd(pd->nic); });
  if (error != 0) return error;
  abi::of(face->context)->handles.remove(face->handle, face);
  delete pd;
  return 0;
}

ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
  if (!abi::is_live(context)) return abi::null_with<ibv_pd>(EINVAL);
  abi::Handles& handles = abi::of(context)->handles;
  const auto* known = static_cast<const abi::Pd*>(handles.find(handle, abi::Kind::kPd));
  if (!known) return abi::null_with<ibv_pd>(ENOENT);
  auto pd = std::make_unique<abi::Pd>();
  pd->face = {.context = context, .handle = handle};
  pd->nic = known->nic;
  if (!handles.add_face(handle, pd.get(), free_face)) return abi::null_with<ibv_pd>(ENOENT);
  return &pd.release()->face;
}

void ibv_unimport_pd(ibv_pd* face) { abi::Handles::drop_face(face); }

}  // extern "C"
