#include <cerrno>

#include "control_verbs.h"
#include "objects.h"

using namespace verbs::soft;

namespace {

void destroy(void* object) { ibv_dealloc_pd(static_cast<ibv_pd*>(object)); }

}  // namespace

extern "C" {

ibv_pd* soft_alloc_pd(ibv_context* context) {
  auto pd = std::make_unique<abi::Pd>();
  const int error = abi::control(context, [&](nic::Nic& nic, link::Nanos) { return nic.alloc_pd(&pd->nic); });
  if (error != 0) return abi::null_with<ibv_pd>(error);
  pd->face.context = context;
  pd->face.handle = abi::of(context)->handles.add(pd.get(), destroy);
  return &pd.release()->face;
}

int ibv_dealloc_pd(ibv_pd* face) {
  abi::Pd* pd = abi::of(face);
  const int error = abi::control(face->context, [&](nic::Nic& nic, link::Nanos) { return nic.dealloc_pd(pd->nic); });
  if (error != 0) return error;
  abi::of(face->context)->handles.remove(face->handle);
  delete pd;
  return 0;
}

ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) { return abi::null_with<ibv_pd>(EOPNOTSUPP); }
void ibv_unimport_pd(ibv_pd*) {}

}  // extern "C"
