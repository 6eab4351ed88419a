#include "guard/fault_signals.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "guard/fault_handler.h"
#include "guard/known_mask.h"

namespace verbs::soft::guard {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS};
constexpr std::size_t kCount = 2;

struct Deferred {
  volatile sig_atomic_t there;
  siginfo_t info;
};

thread_local bool trusted VERBS_FAST_TLS = false;
thread_local bool blocked[kCount] VERBS_FAST_TLS = {};  // outside of the step
thread_local Deferred deferred[kCount] VERBS_FAST_TLS = {};

bool any_blocked() { return blocked[0] || blocked[1]; }

sigset_t fault_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  return set;
}

// To the thread or to the process, as it was sent.
void send_deferred(std::size_t i) {
  if (deferred[i].there == 0) return;
  deferred[i].there = 0;
  siginfo_t& info = deferred[i].info;
  const pid_t process = getpid();
  if (info.si_code == SI_TKILL) {
    syscall(SYS_rt_tgsigqueueinfo, process, syscall(SYS_gettid), info.si_signo, &info);
  } else {
    syscall(SYS_rt_sigqueueinfo, process, info.si_signo, &info);
  }
}

}  // namespace

constinit thread_local bool admitted VERBS_FAST_TLS = false;

void begin_admission() {
  stay_in_front();
  admitted = true;
  if (trusted || known_mask.admits_faults()) return;
  sigset_t old;
  // Few threads block them. Asking is cheaper than changing the mask.
  const std::uint64_t asked = ticks();
  pthread_sigmask(SIG_BLOCK, nullptr, &old);
  const std::uint64_t taken = ticks() - asked;
  if (sigismember(&old, SIGSEGV) == 0 && sigismember(&old, SIGBUS) == 0) return known_mask.learn(taken);
  const sigset_t ours = fault_signals();
  // Set before the signals are admitted: one that is pending arrives at once.
  blocked[0] = blocked[1] = true;
  pthread_sigmask(SIG_UNBLOCK, &ours, &old);
  for (std::size_t i = 0; i < kCount; ++i) {
    blocked[i] = sigismember(&old, kSignals[i]) == 1;
    if (!blocked[i]) send_deferred(i);
  }
}

void end_admission() {
  admitted = false;
  if (!any_blocked()) return;
  sigset_t again;
  sigemptyset(&again);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (blocked[i]) sigaddset(&again, kSignals[i]);
  }
  pthread_sigmask(SIG_BLOCK, &again, nullptr);
  for (std::size_t i = 0; i < kCount; ++i) {
    blocked[i] = false;
    send_deferred(i);
  }
}

void trust_this_thread() { trusted = true; }

bool defer_signal(const siginfo_t& info) {
  if (info.si_code > 0) return false;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (info.si_signo != kSignals[i] || !blocked[i]) continue;
    if (deferred[i].there == 0) std::memcpy(&deferred[i].info, &info, sizeof info);
    deferred[i].there = 1;
    return true;
  }
  return false;
}

}  // namespace verbs::soft::guard
