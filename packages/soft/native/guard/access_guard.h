// The guard of an access to memory that may not be there. A fault in it ends the access instead of the process: the
// process's fault handler (fault_handler.h) finds the guard of the thread and lets the thread continue behind it.
#pragma once

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

// Initial-exec: the signal handler must not allocate lazy thread-local storage.
#define VERBS_FAST_TLS __attribute__((tls_model("initial-exec")))

namespace verbs::soft::guard {

// One access: the bytes that it may touch. Guards nest, since a handler of the program may interrupt an access.
struct AccessGuard {
  std::uintptr_t to;
  std::uintptr_t from;
  std::size_t size;
  AccessGuard* outer;
  sigjmp_buf recovery;

  // A fault of this thread with that `info` is one of the access.
  bool caused(const siginfo_t& info) const;
};

extern constinit thread_local AccessGuard* active_guard VERBS_FAST_TLS;

// Runs `access`, which touches `size` bytes at `to` and `from` and nothing else that can fault; false when it faults.
// It must not need a destructor. It works while the thread does not block SIGSEGV and SIGBUS (fault_signals.h).
template <typename Access>
bool guarded(const void* to, const void* from, std::size_t size, Access access) {
  AccessGuard guard;  // the fields by hand: clearing `recovery` would take longer than the access
  guard.to = reinterpret_cast<std::uintptr_t>(to);
  guard.from = reinterpret_cast<std::uintptr_t>(from);
  guard.size = size;
  guard.outer = active_guard;
  // The mask needs no saving: the thread returns from the handler before it jumps (fault_handler.cc).
  if (sigsetjmp(guard.recovery, 0) != 0) {
    active_guard = guard.outer;
    return false;
  }
  active_guard = &guard;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  access();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  active_guard = guard.outer;
  return true;
}

}  // namespace verbs::soft::guard

// Ranges of memory whose faults belong to somebody: a model's pages of registers, for example.

namespace verbs::soft::guard {

// Called in the signal handler of the thread that faulted, with the program's signals blocked. It changes `context` and
// answers other than 0, or the fault is passed on.
using RangeHandler = int (*)(void* data, void* info, void* context);

class WatchedRanges {
 public:
  static constexpr std::size_t kCapacity = 64;

  // 0, EINVAL (an empty range, one that wraps around, no handler), EEXIST (it overlaps another one) or ENOMEM.
  int add(void* address, std::size_t size, RangeHandler handler, void* data);
  // The range that begins there; ENOENT without one. No call of its handler is in progress on return.
  int remove(const void* address);

  // Async-signal-safe. Whether the fault was in a range and its handler took it.
  bool handle(siginfo_t* info, void* context);

 private:
  struct Range {
    std::uintptr_t begin;
    std::size_t size;
    RangeHandler handler;
    void* data;
  };
  struct Slot {
    std::atomic<const Range*> range{nullptr};
    std::atomic<unsigned> inside{0};
  };

  bool overlaps(std::uintptr_t begin, std::size_t size) const;

  Slot slots_[kCapacity];
};

WatchedRanges& watched_ranges();

}  // namespace verbs::soft::guard

// Memory files, of a size that stays.

namespace verbs::soft {

// All zero, with these seals. 0 or errno. EFBIG: files of this process may not become as large (RLIMIT_FSIZE), which
// ftruncate() would say by SIGXFSZ.
inline int make_memory_file(const char* name, std::size_t size, int seals, int* fd) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) return EFBIG;
  *fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (*fd < 0) return errno;
  if (ftruncate(*fd, static_cast<off_t>(size)) == 0 && fcntl(*fd, F_ADD_SEALS, seals) == 0) return 0;
  const int error = errno;
  close(*fd);
  *fd = -1;
  return error;
}

}  // namespace verbs::soft
