// The signals of faults in a thread's mask. A program may block SIGSEGV and SIGBUS, and a fault whose signal is blocked
// ends the process. So a thread takes them from the first guarded access of a step of the NIC to the step's end.
#pragma once

#include <signal.h>

#include "guard/access_guard.h"
#include "guard/known_mask.h"

namespace verbs::soft::guard {

// A step of this thread has admitted the signals.
extern constinit thread_local bool admitted VERBS_FAST_TLS;

void begin_admission();
void end_admission();

// Before a guarded access to memory of a region: this thread takes the signals of faults from now on, and the fault
// handler is in front. The step must end by restore_fault_signals(); the device's lock does that when it is released.
// One system call in a step, or none if the thread was away for a moment only (known_mask.h).
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
