#include "abi/memory/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "abi/memory/memory_region.h"
#include "abi/objects/objects.h"
#include "nic/objects/device_memory.h"

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
  nic::Why why;
  if (const int error = pool.alloc(attr->length, attr->log_align_req, &dm->nic, &why)) {
    return null_with<ibv_dm>(refuse(context, nic::Place::kAllocDm, error, why));
  }
  dm->ibv.handle = place.handle();
  place.publish();
  return &dm.release()->ibv;
}

int free_dm(ibv_dm* ibv) {
  Retirement retirement;
  if (const int error = retirement.begin(ibv)) return error;
  Context* context = of(ibv->context);
  if (context->adapter->core.nic().device_memory().free(*of(ibv)->nic) != 0) {
    return busy(ibv->context, nic::Place::kFreeDm, of(ibv)->nic->regions);
  }
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

// Memory that the library allocates for the program (release 64), and the registration that takes its memory, an
// address, a descriptor and a DMA handle by one structure (release 59). The memory is ordinary, from the kernel,
// whatever the domain allows: this device copies, and bounces nothing.

using namespace verbs::soft;
using namespace verbs::soft::abi::later;

namespace {

std::size_t in_pages(std::size_t size) {
  static const auto kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + kPage - 1) / kPage * kPage;
}

void free_buffer(void* object) { ibv_free_buf(static_cast<ibv_buf*>(object)); }

void* alloc(ibv_pd* pd, std::size_t size, ibv_buf** buf) {
  abi::Uses uses;
  if (const int error = uses.add(pd)) return abi::null_with<void>(error);
  if (!buf || size == 0 || in_pages(size) < size) return abi::null_with<void>(EINVAL);
  auto made = std::make_unique<abi::Buf>();
  abi::Handles::Place place(abi::of(pd->context)->handles, made.get(), abi::Kind::kBuf, free_buffer);
  void* memory = mmap(nullptr, in_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return abi::null_with<void>(ENOMEM);
  made->address = static_cast<std::uint8_t*>(memory);
  made->size = size;
  made->context = pd->context;
  made->pd = pd;
  made->handle = place.handle();
  place.publish(abi::users_of(pd));
  *buf = abi::ibv_of(made.release());
  return memory;
}

ibv_mr* reg_buf(ibv_pd* pd, ibv_buf* buf, void* addr, std::size_t length, std::uint64_t iova, int access) {
  abi::Uses uses;
  int error = uses.add(pd);
  if (error == 0) error = abi::use_with(uses, buf, pd->context);
  if (error != 0) return abi::null_with<ibv_mr>(error);
  const abi::Buf* known = abi::of(buf);
  const std::size_t offset = static_cast<std::uint8_t*>(addr) - known->address;
  if (known->pd != pd || offset > known->size || length > known->size - offset) return abi::null_with<ibv_mr>(EINVAL);
  return ibv_reg_mr_iova2(pd, addr, length, iova, static_cast<unsigned>(access));
}

ibv_mr* reg_ex(ibv_pd* pd, const MrInitAttr& attr) {
  constexpr std::uint64_t kKnown = kMrIova | kMrAddr | kMrFd | kMrFdOffset | kMrDmah | kMrBuf;
  const auto has = [&](std::uint64_t field) { return (attr.comp_mask & field) != 0; };
  if ((attr.comp_mask & ~kKnown) != 0) return abi::null_with<ibv_mr>(EINVAL);
  // The memory is at an address, or the file's of a descriptor.
  if (has(kMrAddr) == has(kMrFd) || (has(kMrFdOffset) && !has(kMrFd)) || (has(kMrBuf) && !has(kMrAddr))) {
    return abi::null_with<ibv_mr>(EINVAL);
  }
  abi::Uses uses;
  int error = uses.add(pd);
  // Nothing here is a bus whose transfers a handle could hint at; it need only exist. As with the kernel, pages that
  // come on demand have none.
  if (error == 0 && has(kMrDmah)) error = abi::use_with(uses, attr.dmah, pd->context);
  if (error == 0 && has(kMrDmah) && (attr.access & IBV_ACCESS_ON_DEMAND) != 0) error = EINVAL;
  if (error != 0) return abi::null_with<ibv_mr>(error);
  if (has(kMrFd)) {
    const std::uint64_t offset = has(kMrFdOffset) ? attr.fd_offset : 0;
    return ibv_reg_dmabuf_mr(pd, offset, attr.length, has(kMrIova) ? attr.iova : offset, attr.fd, attr.access);
  }
  const std::uint64_t iova = has(kMrIova) ? attr.iova : reinterpret_cast<std::uintptr_t>(attr.addr);
  if (has(kMrBuf)) return reg_buf(pd, attr.buf, attr.addr, attr.length, iova, attr.access);
  return ibv_reg_mr_iova2(pd, attr.addr, attr.length, iova, static_cast<unsigned>(attr.access));
}

}  // namespace

extern "C" {

void* ibv_alloc_buf(ibv_pd* pd, std::size_t size, ibv_buf** buf) {
  return verb([&] { return alloc(pd, size, buf); });
}

// Regions of the memory stay: access to them is then an error, as to any memory that is gone.
void ibv_free_buf(ibv_buf* buf) {
  verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(buf)) return error;
    abi::Buf* known = abi::of(buf);
    munmap(known->address, in_pages(known->size));
    abi::of(known->context)->handles.remove(buf);
    delete known;
    return 0;
  });
}

ibv_mr* ibv_reg_buf_mr(ibv_pd* pd, ibv_buf* buf, void* addr, std::size_t length, int access) {
  return verb([&] { return reg_buf(pd, buf, addr, length, reinterpret_cast<std::uintptr_t>(addr), access); });
}

int ibv_export_buf_dmabuf_fd(ibv_buf* buf) {
  errno = abi::check(buf) == 0 ? ENODATA : EINVAL;
  return -1;
}

ibv_mr* ibv_reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* attr) {
  return verb([&] { return reg_ex(pd, *reinterpret_cast<const MrInitAttr*>(attr)); });
}

}  // extern "C"

// DMA handles (release 59): hints for the bus transfers of regions. The device has no bus: it takes every handle that
// an adapter with TPH takes, and ignores it.

using namespace verbs::soft;

namespace {

void dealloc(void* object) { ibv_dealloc_dmah(static_cast<ibv_dmah*>(object)); }

// The rules of the kernel and of mlx5: a hint there must be, the processor and its kind of memory come together, and
// the processor is one of the machine's.
bool is_complete(const abi::later::DmahInitAttr& attr) {
  constexpr std::uint32_t kCpu = 1u << 0, kHint = 1u << 1, kMemory = 1u << 2;
  constexpr std::uint8_t kMaxHint = 3;  // two bits of a PCIe transaction
  if ((attr.comp_mask & ~(kCpu | kHint | kMemory)) != 0 || (attr.comp_mask & kHint) == 0) return false;
  const bool cpu = (attr.comp_mask & kCpu) != 0;
  const bool memory = (attr.comp_mask & kMemory) != 0;
  if (cpu && attr.cpu_id >= static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF))) return false;
  return cpu == memory && attr.ph <= kMaxHint && (!memory || attr.tph_mem_type <= 1);
}

}  // namespace

extern "C" {

ibv_dmah* ibv_alloc_dmah(ibv_context* context, ibv_dmah_init_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(context)) return abi::null_with<ibv_dmah>(error);
    if (!is_complete(*reinterpret_cast<const abi::later::DmahInitAttr*>(attr))) {
      return abi::null_with<ibv_dmah>(EINVAL);
    }
    auto made = std::make_unique<abi::Dmah>();
    abi::Handles::Place place(abi::of(context)->handles, made.get(), abi::Kind::kDmah, dealloc);
    made->ibv.context = context;
    place.publish();
    return abi::ibv_of(made.release());
  });
}

int ibv_dealloc_dmah(ibv_dmah* ibv) {
  return verb([&] {
    abi::Retirement retirement;
    if (const int error = retirement.begin(ibv)) return error;
    abi::Dmah* known = abi::of(ibv);
    abi::of(known->ibv.context)->handles.remove(ibv);
    delete known;
    return 0;
  });
}

}  // extern "C"
