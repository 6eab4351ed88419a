#include "nic/objects/device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "guard/access_guard.h"
#include "guard/fault_handler.h"
#include "nic/base/guarded_memory.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kMaxLogAlign = 12;  // a page
constexpr std::size_t kUnit = 4;            // adapters copy in words

// A memory file, so that the memory can be given away; -1 where there can be none. Whoever gets a descriptor cannot
// take pages away that others use.
int open_file(std::size_t length) {
  int fd = -1;
  return make_memory_file("verbs-dm", length, F_SEAL_SHRINK, &fd) == 0 ? fd : -1;
}

}  // namespace

Dm::~Dm() {
  munmap(address, length);
  if (fd >= 0) close(fd);
}

int Dm::export_fd() const {
  if (fd >= 0) return fcntl(fd, F_DUPFD_CLOEXEC, 0);
  errno = EOPNOTSUPP;
  return -1;
}

int Dm::check(std::uint64_t at, std::size_t size) const {
  if (at % kUnit != 0 || size % kUnit != 0) return EINVAL;
  return covers(at, size) ? 0 : EFAULT;
}

int Dm::copy_in(std::uint64_t at, const void* from, std::size_t size) {
  if (const int error = check(at, size)) return error;
  return copy_argument(address + at, from, size) ? 0 : EFAULT;
}

int Dm::copy_out(std::uint64_t at, void* to, std::size_t size) const {
  if (const int error = check(at, size)) return error;
  return copy_argument(to, address + at, size) ? 0 : EFAULT;
}

int DmPool::alloc(std::size_t length, std::uint32_t log_align, std::shared_ptr<Dm>* dm, Why* why) {
  const auto refuse = [why](int error, const Why& reason) {
    if (why != nullptr) *why = reason;
    return error;
  };
  if (length == 0 || log_align > kMaxLogAlign) {
    return refuse(EINVAL, {Reason::kDmForm, {length, log_align, kMaxLogAlign}});
  }
  std::size_t left = left_.load();
  do {
    if (length > left) return refuse(ENOMEM, {Reason::kDmRoom, {left, length}});
  } while (!left_.compare_exchange_weak(left, left - length));
  const int fd = open_file(length);
  void* memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
  if (memory == MAP_FAILED) {
    if (fd >= 0) close(fd);
    left_ += length;
    return ENOMEM;
  }
  try {
    *dm = std::make_shared<Dm>(static_cast<std::uint8_t*>(memory), length, fd);
  } catch (...) {  // there is no memory
    munmap(memory, length);
    if (fd >= 0) close(fd);
    left_ += length;
    throw;
  }
  guard::put_in_front();
  return 0;
}

int DmPool::free(const Dm& dm) {
  if (dm.regions != 0) return EBUSY;
  left_ += dm.length;
  return 0;
}

}  // namespace verbs::soft::nic
