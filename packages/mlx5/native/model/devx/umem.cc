// mlx5dv_devx_umem_reg, mlx5dv_devx_umem_reg_ex and mlx5dv_devx_umem_dereg.
#include "model/devx/umem.h"

#include <sys/uio.h>
#include <unistd.h>

namespace verbs::mlx5::model {
namespace {

constexpr std::uint64_t kPage = 4096;

Live<Umem>& umems() { return live<Umem>(); }

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

// The kernel does not pin the memory for us. It copies instead, so that memory which is gone is an error.
bool transfer(Transfer call, void* local, std::uint64_t remote, std::size_t size) {
  const iovec here{local, size}, there{reinterpret_cast<void*>(remote), size};
  return call(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

int check_mapped(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t last = address + size - 1;
  std::uint8_t byte = 0;
  for (std::uint64_t at = address; at <= last; at = (at | (kPage - 1)) + 1) {
    if (!transfer(process_vm_readv, &byte, at, 1)) return EFAULT;
    if ((at | (kPage - 1)) == UINT64_MAX) break;
  }
  return 0;
}

mlx5dv_devx_umem* add_umem(ibv_context* verbs, void* start, std::size_t size, std::uint32_t access) {
  constexpr std::uint32_t kKnown =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING;
  if (!verbs) return null_with<mlx5dv_devx_umem>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_devx_umem>(EOPNOTSUPP);
  const auto address = reinterpret_cast<std::uint64_t>(start);
  if (size == 0 || size - 1 > UINT64_MAX - address) return null_with<mlx5dv_devx_umem>(EINVAL);
  if ((access & ~kKnown) != 0) return null_with<mlx5dv_devx_umem>(EINVAL);
  // As for a region: who may write remotely needs the right to write locally.
  const bool writable = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  if (!writable && (access & IBV_ACCESS_REMOTE_WRITE) != 0) return null_with<mlx5dv_devx_umem>(EINVAL);
  if (const int error = check_mapped(address, size)) return null_with<mlx5dv_devx_umem>(error);
  return &umems().add(std::make_unique<Umem>(*context, address, size, writable))->handle;
}

Umem* find_umem(const mlx5dv_devx_umem* handle) {
  Umem* found = nullptr;
  umems().each([&](Umem& each) {
    if (&each.handle == handle) found = &each;
  });
  return found;
}

}  // namespace

Umem::Umem(Context& its_owner, std::uint64_t address, std::uint64_t size, bool writable)
    : owner(&its_owner), address_(address), size_(size), writable_(writable) {
  handle.umem_id = its_owner.device->next_id++;
}

bool Umem::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  return transfer(process_vm_readv, bytes.data(), address_ + offset, bytes.size());
}

bool Umem::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) const {
  return transfer(process_vm_writev, const_cast<std::uint8_t*>(bytes.data()), address_ + offset, bytes.size());
}

Umem* find_umem(const Context& context, std::uint32_t id) {
  Umem* found = nullptr;
  umems().each([&](Umem& each) {
    if (each.handle.umem_id == id && shares_objects(*each.owner, context)) found = &each;
  });
  return found;
}

void forget_umems(Context& context) {
  umems().remove_if([&](const Umem& umem) { return umem.owner == &context; });
}

mlx5dv_devx_umem* mlx5dv_devx_umem_reg(ibv_context* verbs, void* address, std::size_t size, std::uint32_t access) {
  return add_umem(verbs, address, size, access);
}

// Pages of the machine's size are always possible. A dma-buf is not: its memory may have no address here.
mlx5dv_devx_umem* mlx5dv_devx_umem_reg_ex(ibv_context* verbs, mlx5dv_devx_umem_in* in) {
  if (!in) return null_with<mlx5dv_devx_umem>(EINVAL);
  if (in->comp_mask != 0 || (in->pgsz_bitmap & kPage) == 0) return null_with<mlx5dv_devx_umem>(EOPNOTSUPP);
  return add_umem(verbs, in->addr, in->size, in->access);
}

int mlx5dv_devx_umem_dereg(mlx5dv_devx_umem* handle) {
  const ModelLock guard(model_mutex());
  Umem* umem = find_umem(handle);
  if (!umem) return EINVAL;
  // The kernel does not count users; the firmware rejects the command.
  if (umem->in_use()) return EREMOTEIO;
  umems().remove(umem);
  return 0;
}

}  // namespace verbs::mlx5::model
