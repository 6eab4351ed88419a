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

std::unique_ptr<Dm> make_dm(ibv_context* context) {
  auto dm = std::make_unique<Dm>();
  dm->ibv.context = context;
  dm->ibv.memcpy_to_dm = copy_to;
  dm->ibv.memcpy_from_dm = copy_from;
  return dm;
}

}  // namespace

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr) {
  Uses uses;
  if (uses.add(context) != 0 || attr->comp_mask != 0) return null_with<ibv_dm>(EINVAL);
  auto dm = make_dm(context);
  Handles::Place place(of(context)->handles, &dm->ibv, Kind::kDm, destroy_dm, delete_dm);
  nic::DmPool& pool = of(context)->adapter->core.nic().device_memory();
  if (const int error = pool.alloc(attr->length, attr->log_align_req, &dm->nic)) return null_with<ibv_dm>(error);
  dm->ibv.handle = place.handle();
  place.publish();
  return &dm.release()->ibv;
}

int free_dm(ibv_dm* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Context* context = of(ibv->context);
  if (const int error = context->adapter->core.nic().device_memory().free(*of(ibv)->nic)) return error;
  context->handles.remove(ibv);
  delete of(ibv);
  return 0;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length, unsigned access) {
  Uses uses;
  int error = uses.add(pd, ENOENT);
  if (error == 0) error = use_with(uses, dm, pd->context, ENOENT);
  if (error != 0) return null_with<ibv_mr>(error);
  return make_mr(pd, nullptr, length, false, [&](nic::Nic& nic, nic::Mr** mr) {
    return nic.mrs().reg_dm(of(pd)->nic, of(dm)->nic, offset, length, access, mr);
  });
}

ibv_dm* import_dm(ibv_context* context, std::uint32_t handle) {
  Uses uses;
  if (const int error = uses.add(context)) return null_with<ibv_dm>(error);
  Handles& handles = of(context)->handles;
  const auto* known = static_cast<const Dm*>(uses.add(handles, handle, Kind::kDm));
  if (!known) return null_with<ibv_dm>(ENOENT);
  auto dm = make_dm(context);
  dm->nic = known->nic;
  dm->ibv.handle = handle;
  handles.add_import(handle, dm.get(), delete_dm);
  return &dm.release()->ibv;
}

}  // namespace verbs::soft::abi

extern "C" {

ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t handle) {
  return verb([&] { return abi::import_dm(context, handle); });
}

int ibv_dm_export_dmabuf_fd(ibv_dm* dm) {
  return contain_call(
      [&] {
        abi::Uses uses;
        if (const int error = uses.add(dm, ENOENT)) {
          errno = error;
          return -1;
        }
        return abi::of(dm)->nic->export_fd();
      },
      [](int error) {
        errno = error;
        return -1;
      });
}

void ibv_unimport_dm(ibv_dm* ibv) { abi::Handles::unimport(ibv); }

}  // extern "C"
