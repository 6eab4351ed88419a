#include "nic/base/mapping_watch.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace verbs::soft::nic {
namespace {

int open_watch() {
  const auto fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
  if (fd < 0) return -1;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
  if (ioctl(fd, UFFDIO_API, &api) == 0) return fd;
  close(fd);
  return -1;
}

// A descriptor watches the memory of the process that opened it: a child of a fork has its own. Process and descriptor
// are one word, since a lock would stay locked in a child that is made while another thread has it.
int watch_of_process() {
  static std::atomic<std::uint64_t> watch = 0;  // 0: none yet
  const auto own = static_cast<std::uint64_t>(getpid()) << 32;
  const auto fd_of = [](std::uint64_t word) { return static_cast<std::int32_t>(word); };
  std::uint64_t seen = watch.load(std::memory_order_acquire);
  if (seen >> 32 == own >> 32) return fd_of(seen);
  const int opened = open_watch();
  const std::uint64_t made = own | static_cast<std::uint32_t>(opened);
  if (watch.compare_exchange_strong(seen, made, std::memory_order_acq_rel)) {
    if (seen != 0 && fd_of(seen) >= 0) close(fd_of(seen));  // of the parent
    return opened;
  }
  // Another thread was first.
  if (opened >= 0) close(opened);
  return fd_of(seen);
}

uffdio_range pages_of(const void* address, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(address) + size + page - 1) & ~(page - 1);
  return {.start = from, .len = end - from};
}

// Allows writing, which is allowed: only the answer counts. ENOENT: the range, or a part of it, has no mark.
bool has_mark(int fd, const uffdio_range& range) {
  uffdio_writeprotect allow{};
  allow.range = range;
  int result = 0;
  do {
    result = ioctl(fd, UFFDIO_WRITEPROTECT, &allow);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 || errno != ENOENT;
}

}  // namespace

bool watch_mapping(const void* address, std::size_t size) {
  const int fd = watch_of_process();
  uffdio_register registration{};
  registration.range = pages_of(address, size);
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  return fd >= 0 && registration.range.len > 0 && ioctl(fd, UFFDIO_REGISTER, &registration) == 0;
}

bool is_same_mapping(const void* address, std::size_t size) {
  const int fd = watch_of_process();
  uffdio_range range = pages_of(address, size);
  if (fd < 0 || range.len == 0 || has_mark(fd, range)) return true;
  // Older kernels look at one mapping only, and the range may have become several (mprotect).
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const std::uint64_t end = range.start + range.len; range.start < end; range.start += page) {
    range.len = page;
    if (!has_mark(fd, range)) return false;
  }
  return true;
}

}  // namespace verbs::soft::nic
