// The signals of faults in a thread's mask. A program may block SIGSEGV and SIGBUS, and a fault whose signal is blocked
// ends the process. So a thread takes them from the first guarded access of a step of the NIC to the step's end.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "guard/access_guard.h"

// What a thread knows about its signal mask without asking the kernel: what the kernel said a moment ago. It is asked
// so seldom that the question costs a thread which does nothing else less than a sixtieth of its time. The decision is
// docs/decisions/0005.
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
  // Whether the kernel has just said that the thread does not block the signals of faults.
  bool admits_faults() const { return asked_at_ != 0 && ticks() - asked_at_ < lasts.load(std::memory_order_relaxed); }
  // The kernel said so, by a system call that took this long.
  void learn(std::uint64_t taken);

 private:
  // How long the answer is believed; 0 until it is measured, and where the counter is too slow.
  static std::atomic<std::uint64_t> lasts;

  std::uint64_t asked_at_ = 0;
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
// One system call in a step, or none if it was made in a step just before (KnownMask).
inline void admit_fault_signals() {
  if (!admitted) begin_admission();
}

// The mask is as before the step.
inline void restore_fault_signals() {
  if (admitted) end_admission();
}

// For a thread of the NIC that never blocks them: spares the system call.
void trust_this_thread();

// In the signal handler. Whether `info` is a signal that somebody sent to a thread that blocks it outside of the step:
// it is sent again when the step ends.
bool defer_signal(const siginfo_t& info);

}  // namespace verbs::soft::guard
