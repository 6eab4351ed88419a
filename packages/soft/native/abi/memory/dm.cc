#include "abi/memory/dm.h"

#include <cerrno>

#include "abi/memory/mr.h"
#include "abi/objects/objects.h"
#include "nic/objects/dm.h"

using namespace verbs::soft;

namespace verbs::soft::abi {

namespace {

int copy_to(ibv_dm* dm, std::uint64_t offset, const void* from, std::size_t length) {
  return of(dm)->nic->copy_in(offset, from, length);
}

int copy_from(void* to, ibv_dm* dm, std::uint64_t offset, std::size_t length) {
  return of(dm)->nic->copy_out(offset, to, length);
}

void destroy_dm(void* object) { free_dm(static_cast<ibv_dm*>(object)); }
void delete_dm(void* ibv) { delete static_cast<Dm*>(ibv); }

std::unique_ptr<Dm> make_dm(ibv_context* context, std::shared_ptr<nic::Dm> memory) {
  auto dm = std::make_unique<Dm>();
  dm->ibv.context = context;
  dm->ibv.memcpy_to_dm = copy_to;
  dm->ibv.memcpy_from_dm = copy_from;
  dm->nic = std::move(memory);
  return dm;
}

}  // namespace

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr) {
  if (!is_live(context) || attr->comp_mask != 0) return null_with<ibv_dm>(EINVAL);
  std::shared_ptr<nic::Dm> memory;
  const int error = of(context)->adapter->core.nic().device_memory().alloc(attr->length, attr->log_align_req, &memory);
  if (error != 0) return null_with<ibv_dm>(error);
  auto dm = make_dm(context, std::move(memory));
  dm->ibv.handle = of(context)->handles.add_importable(dm.get(), destroy_dm, Kind::kDm, delete_dm);
  return &dm.release()->ibv;
}

int free_dm(ibv_dm* ibv) {
  if (!is_live(ibv)) return EINVAL;
  Context* context = of(ibv->context);
  if (const int error = context->adapter->core.nic().device_memory().free(*of(ibv)->nic)) return error;
  context->handles.remove(ibv->handle, ibv);
  delete of(ibv);
  return 0;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length, unsigned access) {
  if (!is_live(pd) || !is_usable(dm, pd->context)) return null_with<ibv_mr>(EINVAL);
  return make_mr(pd, nullptr, length, false, [&](nic::Nic& nic, nic::Mr** mr) {
    return nic.mrs().reg_dm(of(pd)->nic, of(dm)->nic, offset, length, access, mr);
  });
}

}  // namespace verbs::soft::abi

extern "C" {

ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t handle) {
  if (!abi::is_live(context)) return abi::null_with<ibv_dm>(EINVAL);
  abi::Handles& handles = abi::of(context)->handles;
  const auto* known = static_cast<const abi::Dm*>(handles.find(handle, abi::Kind::kDm));
  if (!known) return abi::null_with<ibv_dm>(ENOENT);
  auto dm = abi::make_dm(context, known->nic);
  dm->ibv.handle = handle;
  if (!handles.add_import(handle, dm.get(), abi::delete_dm)) return abi::null_with<ibv_dm>(ENOENT);
  return &dm.release()->ibv;
}

void ibv_unimport_dm(ibv_dm* ibv) { abi::Handles::unimport(ibv); }

}  // extern "C"
