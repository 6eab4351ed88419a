#include "abi/memory/memory_region.h"

#include <cerrno>

#include "abi/model/extension.h"
#include "abi/objects/objects.h"
#include "nic/base/mapped_memory.h"
#include "verbs_soft_extension.h"

using namespace verbs::soft;

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace {

void destroy_mr(void* object) { ibv_dereg_mr(static_cast<ibv_mr*>(object)); }
void delete_mr(void* ibv) { delete static_cast<abi::Mr*>(ibv); }

ibv_mr* reg_mr(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(pd);
    return error == 0 ? abi::of(pd->context)->control.reg_mr(pd, addr, length, iova, access)
                      : abi::null_with<ibv_mr>(error);
  });
}

int rereg_failed(ibv_rereg_mr_err_code code, int error) {
  errno = error;
  return code;
}

}  // namespace

namespace verbs::soft::abi {

ibv_mr* make_mr(ibv_pd* pd, void* addr, std::size_t length, bool may_rereg, const RegisterMr& reg) {
  auto mr = std::make_unique<Mr>();
  ibv_mr& ibv = mr->ibv;
  Handles::Place place(of(pd->context)->handles, &ibv, Kind::kMr, destroy_mr, delete_mr);
  const int error = control(pd->context, [&](nic::Nic& nic, link::Nanos) {
    const int failure = reg(nic, &mr->nic);
    if (failure != 0) return failure;
    ibv.lkey = mr->nic->lkey();
    ibv.rkey = mr->nic->rkey();
    return 0;
  });
  if (error != 0) return null_with<ibv_mr>(error);
  mr->may_rereg = may_rereg;
  ibv.context = pd->context;
  ibv.pd = pd;
  ibv.addr = addr;
  ibv.length = length;
  ibv.handle = place.handle();
  place.publish(users_of(pd));
  return &mr.release()->ibv;
}

ibv_mr* alloc_null_mr(ibv_pd* pd) {
  Uses uses;
  if (const int error = uses.add(pd)) return null_with<ibv_mr>(error);
  return make_mr(pd, nullptr, SIZE_MAX, false,
                 [pd](nic::Nic& nic, nic::Mr** mr) { return nic.mrs().alloc_null(of(pd)->nic, mr); });
}

}  // namespace verbs::soft::abi

namespace {

// IBV_REREG_MR_ERR_INPUT for wrong arguments, IBV_REREG_MR_ERR_CMD for an error of the device; errno has the reason.
// The region is unchanged after both. The errors about forks do not occur, since pages are never pinned.
int rereg_mr(ibv_mr* ibv, int flags, ibv_pd* pd, void* addr, std::size_t length, int access) {
  abi::Uses uses;
  if (const int error = uses.add(ibv, ENOENT)) return rereg_failed(IBV_REREG_MR_ERR_INPUT, error);
  abi::Mr* mr = abi::of(ibv);
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  const bool changes_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
  if (!mr->may_rereg || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 || (moves && (!addr || length == 0)) ||
      (access != 0 && (flags & IBV_REREG_MR_CHANGE_ACCESS) == 0) ||
      (changes_pd && abi::use_with(uses, pd, ibv->context) != 0)) {
    return rereg_failed(IBV_REREG_MR_ERR_INPUT, EINVAL);
  }
  if (flags == 0) return rereg_failed(IBV_REREG_MR_ERR_CMD, EINVAL);
  nic::Rereg plan;
  int error = abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
    return nic.mrs().plan_rereg(mr->nic, flags, addr, length, static_cast<unsigned>(access), &plan);
  });
  if (error == 0 && plan.changes_memory) error = nic::check_region(plan.address, plan.length, plan.access);
  if (error == 0) {
    error = abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
      return nic.mrs().rereg(mr->nic, plan, changes_pd ? abi::of(pd)->nic : nullptr);
    });
  }
  if (error != 0) return rereg_failed(IBV_REREG_MR_ERR_CMD, error);
  if (changes_pd) {
    ibv->pd = pd;
    abi::of(ibv->context)->handles.set_users(ibv, abi::users_of(pd));
  }
  if (moves) {
    ibv->addr = addr;
    ibv->length = length;
  }
  return 0;
}

ibv_mr* reg_file(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd, unsigned access) {
  abi::Uses uses;
  if (const int error = uses.add(pd)) return abi::null_with<ibv_mr>(error);
  // Any other descriptor gets the answer of a device without dma-bufs, before all else is looked at, as the kernel
  // does: programs ask with -1 whether there are any, and take every other error for yes.
  if (!nic::FileMemory::is_memory_file(fd)) return abi::null_with<ibv_mr>(EOPNOTSUPP);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(offset));
  if (!nic::has_page_offset_of(address, iova)) return abi::null_with<ibv_mr>(EINVAL);
  if (const int error = nic::check_file_access(access)) return abi::null_with<ibv_mr>(error);
  std::unique_ptr<nic::FileMemory> file;
  if (const int error = nic::FileMemory::map(fd, offset, length, nic::is_written(access), &file)) {
    return abi::null_with<ibv_mr>(error);
  }
  return abi::make_mr(pd, address, length, false, [&](nic::Nic& nic, nic::Mr** mr) {
    return nic.mrs().reg_file(abi::of(pd)->nic, std::move(file), length, iova, access, mr);
  });
}

// Keys and length are those of the region. Its address is not set, as in libibverbs.
ibv_mr* import_mr(ibv_pd* pd, std::uint32_t handle) {
  abi::Uses uses;
  if (const int error = uses.add(pd)) return abi::null_with<ibv_mr>(error);
  abi::Handles& handles = abi::of(pd->context)->handles;
  const auto* known = static_cast<const abi::Mr*>(uses.add(handles, handle, abi::Kind::kMr));
  if (!known) return abi::null_with<ibv_mr>(ENOENT);
  auto mr = std::make_unique<abi::Mr>();
  mr->ibv = known->ibv;
  mr->ibv.handle = handle;
  mr->ibv.context = pd->context;
  mr->ibv.pd = pd;
  mr->ibv.addr = nullptr;
  mr->nic = known->nic;
  mr->may_rereg = false;
  handles.add_import(handle, mr.get(), delete_mr);
  return &mr.release()->ibv;
}

}  // namespace

extern "C" {

ibv_mr* soft_reg_mr(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access) {
  return verb([&] {
    if (!nic::has_page_offset_of(addr, iova)) return abi::null_with<ibv_mr>(EINVAL);
    if (const int error = nic::check_region(addr, length, access)) {
      abi::control(pd->context, [&](nic::Nic& nic, link::Nanos) {
        nic.explain(nic::Place::kRegMr, error, nic::why_no_region(addr, length, access, error));
        return 0;
      });
      return abi::null_with<ibv_mr>(error);
    }
    return abi::make_mr(pd, addr, length, true, [&](nic::Nic& nic, nic::Mr** mr) {
      return nic.mrs().reg(abi::of(pd)->nic, addr, length, iova, access, mr);
    });
  });
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, std::size_t length, int access) {
  return reg_mr(pd, addr, length, reinterpret_cast<std::uintptr_t>(addr), static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, int access) {
  return reg_mr(pd, addr, length, iova, static_cast<unsigned>(access));
}

// The optional access flags are hints; this device ignores them.
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access) {
  return reg_mr(pd, addr, length, iova, access & ~static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE));
}

int ibv_dereg_mr(ibv_mr* ibv) {
  return verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(ibv)) return error;
    abi::Mr* mr = abi::of(ibv);
    const int error = abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) {
      const int failure = nic.mrs().dereg(mr->nic);
      if (failure != 0 && !abi::of(ibv->context)->handles.is_being_destroyed()) {
        nic.explain(nic::Place::kDeregMr, failure, {nic::Reason::kBoundWindows, {mr->nic->windows}});
      }
      return failure;
    });
    if (error != 0) return error;
    abi::of(ibv->context)->handles.remove(ibv);
    delete mr;
    return 0;
  });
}

int ibv_rereg_mr(ibv_mr* ibv, int flags, ibv_pd* pd, void* addr, std::size_t length, int access) {
  return contain_call([&] { return rereg_mr(ibv, flags, pd, addr, length, access); },
                      [](int error) { return rereg_failed(IBV_REREG_MR_ERR_CMD, error); });
}

// Of a memory file in place of a dma-buf. Its address is the offset, as in libibverbs.
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd,
                          int access) {
  return verb([&] { return reg_file(pd, offset, length, iova, fd, static_cast<unsigned>(access)); });
}

ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t handle) {
  return verb([&] { return import_mr(pd, handle); });
}

int verbs_soft_keep_mapped(ibv_mr* ibv) {
  return contain_call(
      [&] {
        abi::Uses uses;
        if (const int error = uses.add(ibv, ENOENT)) return error;
        return abi::control(ibv->context, [&](nic::Nic&, link::Nanos) {
          nic::MrTable::keep_mapped(abi::of(ibv)->nic);
          return 0;
        });
      },
      [](int error) { return error; });
}

void ibv_unimport_mr(ibv_mr* ibv) { abi::Handles::unimport(ibv); }

}  // extern "C"

// ibv_advise_mr: reads in the pages of on-demand regions before a request needs them.

namespace verbs::soft::abi {

namespace {

bool is_known(ibv_advise_mr_advice advice) {
  return advice == IBV_ADVISE_MR_ADVICE_PREFETCH || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ||
         advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
}

}  // namespace

// The pages are present when this returns, with and without IBV_ADVISE_MR_FLAG_FLUSH. As in the kernel, a failure is
// reported only with the flag.
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* sg_list, std::uint32_t num_sge) {
  Uses uses;
  if (const int error = uses.add(pd, ENOENT)) return error;
  if (!is_known(advice)) return EOPNOTSUPP;
  if ((flags & ~static_cast<std::uint32_t>(IBV_ADVISE_MR_FLAG_FLUSH)) != 0 || !sg_list || num_sge == 0) return EINVAL;
  const bool writable = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  std::vector<void*> addresses(num_sge);
  const int error = control(pd->context, [&](nic::Nic& nic, link::Nanos) {
    for (std::uint32_t i = 0; i < num_sge; ++i) {
      const int failure = nic.mrs().advised_range(of(pd)->nic, sg_list[i], writable, &addresses[i]);
      if (failure != 0) return failure;
    }
    return 0;
  });
  // Pages that are present need nothing more for this device.
  if (error != 0 || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) return error;
  for (std::uint32_t i = 0; i < num_sge; ++i) {
    const int failure = nic::populate(addresses[i], sg_list[i].length, writable);
    if (failure != 0 && (flags & IBV_ADVISE_MR_FLAG_FLUSH) != 0) return failure;
  }
  return 0;
}

namespace {

void destroy_mw(void* object) { dealloc_mw(static_cast<ibv_mw*>(object)); }

}  // namespace

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  Uses uses;
  if (const int error = uses.add(pd)) return null_with<ibv_mw>(error);
  auto mw = std::make_unique<Mw>();
  ibv_mw& ibv = mw->ibv;
  Handles::Place place(of(pd->context)->handles, &ibv, Kind::kMw, destroy_mw);
  const int error = control(pd->context, [&](nic::Nic& nic, link::Nanos) {
    nic::Why why;
    const int failure = nic.mws().alloc(of(pd)->nic, type, &mw->nic, &why);
    if (failure == 0) ibv.rkey = mw->nic->rkey();
    if (failure != 0) nic.explain(nic::Place::kAllocMw, failure, why);
    return failure;
  });
  if (error != 0) return null_with<ibv_mw>(error);
  ibv.context = pd->context;
  ibv.pd = pd;
  ibv.type = type;
  ibv.handle = place.handle();
  place.publish(users_of(pd));
  return &mw.release()->ibv;
}

int dealloc_mw(ibv_mw* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Mw* mw = of(ibv);
  const int error = control(ibv->context, [&](nic::Nic& nic, link::Nanos) { return nic.mws().dealloc(mw->nic); });
  if (error != 0) return error;
  of(ibv->context)->handles.remove(ibv);
  delete mw;
  return 0;
}

// ibv_bind_mw() has checked the window's type and its PD. The key changes when the request is posted, not when it is
// executed, so that several requests can be outstanding.
int bind_mw(ibv_qp* qp, ibv_mw* ibv, ibv_mw_bind* bind) {
  Uses uses;
  if (const int error = uses.add(qp)) return error;
  if (const int error = use_with(uses, ibv, qp->context)) return error;
  const std::uint32_t rkey = ibv_inc_rkey(ibv->rkey);
  const int error = control(
      qp->context, [&](nic::Nic& nic, link::Nanos) { return nic.data_path().post_bind(of(qp)->nic, bind, rkey); });
  if (error == 0) ibv->rkey = rkey;
  return error;
}

}  // namespace verbs::soft::abi
