// The signals of faults in a thread's mask. A program may block SIGSEGV and SIGBUS, and a fault whose signal is blocked
// ends the process. So a thread takes them from the first guarded access of a step of the NIC to the step's end.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "guard/access_guard.h"

// What a thread knows about its signal mask without asking the kernel. The mask of a thread changes only in the kernel.
// So when less time has passed since the thread left the library than the way into the kernel and back takes, the mask
// is what it was. A thread that polls in a loop asks once for many steps that way.
//
// The time is that of the processor's own counter, in its ticks. How long a system call takes is measured: at the first
// question by many more, and by each later one.

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace verbs::soft::guard {

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return 0;
#endif
}

class KnownMask {
 public:
  // The library's part of a call begins and ends. A thread that knows nothing pays for a comparison.
  void enter() {
    if (known_ && ticks() - left_ >= limit.load(std::memory_order_relaxed)) known_ = false;
  }
  void leave() {
    if (known_) left_ = ticks();
  }

  // Whether the thread does not block the signals of faults for sure.
  bool admits_faults() {
    if (!known_) return false;
    // A handler that ran meanwhile may have changed the mask to which it returned.
    if (++uses_ % kUses != 0) return true;
    known_ = false;
    return false;
  }
  // The kernel said so, by a system call that took this long.
  void learn(std::uint64_t taken);

 private:
  static constexpr unsigned kUses = 64;

  // Less time than a system call takes; 0 until it is measured, and where the counter is too coarse or too slow.
  static std::atomic<std::uint64_t> limit;

  std::uint64_t left_ = 0;
  unsigned uses_ = 0;
  bool known_ = false;
};

extern constinit thread_local KnownMask known_mask VERBS_FAST_TLS;

}  // namespace verbs::soft::guard

namespace verbs::soft::guard {

// A step of this thread has admitted the signals.
extern constinit thread_local bool admitted VERBS_FAST_TLS;

void begin_admission();
void end_admission();

// Before a guarded access to memory of a region: this thread takes the signals of faults from now on, and the fault
// handler is in front. The step must end by restore_fault_signals(); the device's lock does that when it is released.
// One system call in a step, or none if the thread was away for a moment only (KnownMask).
inline void admit_fault_signals() {
  if (!admitted) begin_admission();
}

// The mask is as before the step.
inline void restore_fault_signals() {
  if (admitted) end_admission();
  known_mask.leave();
}

// A step of this thread begins, whether or not it touches regions.
inline void begin_step() { known_mask.enter(); }

// For a thread of the NIC that never blocks them: spares the system call.
void trust_this_thread();

// In the signal handler. Whether `info` is a signal that somebody sent to a thread that blocks it outside of the step:
// it is sent again when the step ends.
bool defer_signal(const siginfo_t& info);

}  // namespace verbs::soft::guard
