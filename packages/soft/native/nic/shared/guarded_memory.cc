#include "nic/shared/guarded_memory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace verbs::soft::nic {
namespace {

// Initial-exec: the signal handler must not allocate lazy thread-local storage.
#define VERBS_FAST_TLS __attribute__((tls_model("initial-exec")))

// MADV_POPULATE_READ and _WRITE, which older C libraries do not name.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VERBS_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define VERBS_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define VERBS_ADDRESS_SANITIZER
#elif defined(__SANITIZE_THREAD__)
#define VERBS_THREAD_SANITIZER
#endif

#if defined(VERBS_THREAD_SANITIZER)
constexpr int kSaveMask = 1;  // its handler blocks every signal, whatever the flags of ours say
#else
constexpr int kSaveMask = 0;
#endif

thread_local sigjmp_buf recovery VERBS_FAST_TLS;
thread_local volatile sig_atomic_t recoverable VERBS_FAST_TLS = 0;

struct sigaction previous_segv;
struct sigaction previous_bus;

void on_fault(int signal, siginfo_t* info, void* context) {
  if (recoverable != 0) {
    recoverable = 0;
    siglongjmp(recovery, 1);
  }
  // The fault is not in a guarded copy: the previous handler gets it (a runtime's trap handler, a crash reporter, or
  // the default).
  const struct sigaction& previous = signal == SIGSEGV ? previous_segv : previous_bus;
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The default: the faulting instruction runs again and ends the process.
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
}

void install(int signal, struct sigaction* previous) {
  struct sigaction current;
  sigaction(signal, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_fault) return;
  *previous = current;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  // NODEFER: leaving by siglongjmp must not leave the signal blocked.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// Calls visit(start, end, readable, writable) for each mapping in ascending order until it returns false.
template <typename Visit>
bool for_each_mapping(Visit visit) {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[16384];
  std::size_t used = 0;
  bool more = true;
  while (more) {
    const ssize_t got = read(fd, buffer + used, sizeof buffer - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
    buffer[used] = '\0';
    char* line = buffer;
    while (more) {
      char* end = static_cast<char*>(std::memchr(line, '\n', used - static_cast<std::size_t>(line - buffer)));
      if (end == nullptr) break;
      std::uintptr_t from = 0;
      std::uintptr_t to = 0;
      char access[5] = {};
      if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, access) == 3) {
        more = visit(from, to, access[0] == 'r', access[1] == 'w');
      }
      line = end + 1;
    }
    used -= static_cast<std::size_t>(line - buffer);
    std::memmove(buffer, line, used);
  }
  close(fd);
  return true;
}

// Runs `access`; false when it faults.
template <typename Access>
bool guarded(Access access) {
  if (sigsetjmp(recovery, kSaveMask) != 0) return false;
  recoverable = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  access();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  recoverable = 0;
  return true;
}

// A fault inside ThreadSanitizer's own runtime cannot be left by a jump, so guarded accesses are not instrumented. They
// use built-in functions, because the templates of <atomic> would be instrumented.
#define VERBS_NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))

VERBS_NO_THREAD_SANITIZER void swap_word(std::uint64_t* at, std::uint64_t* original, std::uint64_t swap) {
  __atomic_compare_exchange_n(at, original, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

VERBS_NO_THREAD_SANITIZER std::uint64_t add_word(std::uint64_t* at, std::uint64_t add) {
  return __atomic_fetch_add(at, add, __ATOMIC_SEQ_CST);
}

VERBS_NO_THREAD_SANITIZER void store_word(std::uint64_t* at, std::uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}

// The sanitizers end the process at address 0 and at addresses outside the user address space, where a plain access
// would fault. Such copies are not instrumented.
#if defined(VERBS_ADDRESS_SANITIZER) || defined(VERBS_THREAD_SANITIZER)
__attribute__((no_sanitize("address", "undefined"))) VERBS_NO_THREAD_SANITIZER void copy_unchecked(void* to,
                                                                                                   const void* from,
                                                                                                   std::size_t size) {
  auto* target = static_cast<volatile std::uint8_t*>(to);
  const auto* source = static_cast<const volatile std::uint8_t*>(from);
  for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
}
#endif

#if defined(VERBS_THREAD_SANITIZER)
void copy_bytes(void* to, const void* from, std::size_t size) { copy_unchecked(to, from, size); }
#elif defined(VERBS_ADDRESS_SANITIZER)
constexpr std::uintptr_t kEndOfProcess = std::uintptr_t{1} << 47;

void copy_bytes(void* to, const void* from, std::size_t size) {
  const std::uintptr_t highest = std::max(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from));
  // Address 0 is a fault like any other: a program may post an inline element there.
  if (highest < kEndOfProcess && to != nullptr && from != nullptr) {
    std::memcpy(to, from, size);
  } else {
    copy_unchecked(to, from, size);
  }
}
#else
void copy_bytes(void* to, const void* from, std::size_t size) { std::memcpy(to, from, size); }
#endif

}  // namespace

bool guarded_copy(void* to, const void* from, std::size_t size) {
  return size == 0 || guarded([=] { copy_bytes(to, from, size); });
}

bool guarded_compare_swap(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t* original) {
  *original = compare;
  return guarded([=] { swap_word(static_cast<std::uint64_t*>(at), original, swap); });
}

bool guarded_fetch_add(void* at, std::uint64_t add, std::uint64_t* original) {
  return guarded([=] { *original = add_word(static_cast<std::uint64_t*>(at), add); });
}

bool guarded_store(void* at, std::uint64_t value) {
  return guarded([=] { store_word(static_cast<std::uint64_t*>(at), value); });
}

// Runs at every registration: a program may have installed its own handler since the last one.
void arm_fault_handler() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  install(SIGSEGV, &previous_segv);
  install(SIGBUS, &previous_bus);
}

int write_back(void* at, std::size_t size) {
  static const std::uintptr_t kInPage = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(at) & kInPage;
  return msync(static_cast<std::uint8_t*>(at) - offset, size + offset, MS_SYNC) == 0 ? 0 : errno;
}

int check_mapped(const void* address, std::size_t size, bool writable) {
  arm_fault_handler();
  std::uintptr_t next = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t end = next + size;
  if (end < next) return EINVAL;
  const bool read = for_each_mapping([&](std::uintptr_t from, std::uintptr_t to, bool can_read, bool can_write) {
    if (to <= next) return true;
    if (from > next || !can_read || (writable && !can_write)) return false;
    next = to;
    return next < end;
  });
  // Without /proc the check is impossible; the guarded copies still protect every access.
  if (!read) return 0;
  return next >= end ? 0 : EFAULT;
}

int populate(void* address, std::size_t size, bool writable) {
  if (size == 0) return 0;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(address) + size;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (madvise(reinterpret_cast<void*>(from), end - from, writable ? kPopulateWrite : kPopulateRead) == 0) return 0;
  if (errno == EAGAIN) return ENOMEM;
  // A hole is ENOMEM, the wrong protection EFAULT or EINVAL. Kernels before 5.14 know neither advice (EINVAL): then a
  // check of the mappings has to do.
  return check_mapped(address, size, writable);
}

}  // namespace verbs::soft::nic
