#include "guard/fault_signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "guard/fault_handler.h"

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

namespace {

constexpr int kCalls = 64;
// An answer is believed for as many times the time that the question takes.
constexpr std::uint64_t kBelief = 64;
// On some virtual machines reading the counter is a trap: where it takes this share of a system call, it saves nothing.
constexpr std::uint64_t kShare = 4;
constexpr std::uint64_t kUnmeasured = UINT64_MAX;

// The shortest of all.
std::atomic<std::uint64_t> shortest{kUnmeasured};

std::uint64_t time_of_call() {
  sigset_t mask;
  const std::uint64_t begin = ticks();
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return ticks() - begin;
}

std::uint64_t time_of_nothing() {
  const std::uint64_t begin = ticks();
  return ticks() - begin;
}

std::uint64_t measure() {
  std::uint64_t call = time_of_call();
  std::uint64_t nothing = time_of_nothing();
  for (int i = 0; i < kCalls; ++i) {
    call = std::min(call, time_of_call());
    nothing = std::min(nothing, time_of_nothing());
  }
  return nothing < call / kShare ? call - nothing : 0;
}

}  // namespace

constinit std::atomic<std::uint64_t> KnownMask::lasts{0};
constinit thread_local KnownMask known_mask VERBS_FAST_TLS;

void KnownMask::learn(std::uint64_t taken) {
  const std::uint64_t before = shortest.load(std::memory_order_relaxed);
  const std::uint64_t now = std::min(taken, before == kUnmeasured ? measure() : before);
  if (now != before) {
    shortest.store(now, std::memory_order_relaxed);
    lasts.store(kBelief * now, std::memory_order_relaxed);
  }
  asked_at_ = ticks();
}

}  // namespace verbs::soft::guard
