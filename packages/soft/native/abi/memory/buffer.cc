// Memory that the library allocates for the program (release 64), and the registration that takes its memory, an
// address, a descriptor and a DMA handle by one structure (release 59). The memory is ordinary, from the kernel,
// whatever the domain allows: this device copies, and bounces nothing.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "abi/objects/objects.h"

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
