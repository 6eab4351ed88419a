// The guard of an access to memory that may not be there. A fault in it ends the access instead of the process: the
// process's fault handler (fault_handler.h) finds the guard of the thread and lets the thread continue behind it.
#pragma once

#include <setjmp.h>
#include <signal.h>

#include <atomic>
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
  // The mask needs no saving: the thread returns from the handler before it jumps (machine_context.h).
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
