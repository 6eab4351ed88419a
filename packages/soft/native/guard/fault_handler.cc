#include "guard/fault_handler.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "guard/access_guard.h"
#include "guard/fault_signals.h"
#include "guard/handler_chain.h"
#include "guard/machine_context.h"
#include "guard/small_copy.h"
#include "guard/watched_ranges.h"
#include "include/verbs_soft_worker.h"

namespace verbs::soft::guard {
namespace {

constexpr unsigned kFirst = 16;   // steps that all look
constexpr unsigned kPeriod = 64;  // of the others each of this number

HandlerChain segv_chain;
HandlerChain bus_chain;
std::atomic<bool> installed{false};
std::atomic<long> last_tick{-1};
std::atomic<unsigned> steps{0};

HandlerChain& chain_of(int signal) { return signal == SIGSEGV ? segv_chain : bus_chain; }

// Where a thread whose guarded access has faulted continues.
__attribute__((noreturn, no_sanitize("thread"))) void leave_access() { siglongjmp(active_guard->recovery, 1); }

bool end_access(const siginfo_t& info, void* context) {
  if (!active_guard || !active_guard->caused(info)) return false;
  continue_at(static_cast<ucontext_t*>(context), leave_access);
  return true;
}

void handle(unsigned level, int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (!end_small_copy(*info, static_cast<ucontext_t*>(context)) && !end_access(*info, context) &&
      !defer_signal(*info) && !watched_ranges().handle(info, context)) {
    chain_of(signal).pass_on(level, signal, info, static_cast<ucontext_t*>(context));
  }
  errno = error;
}

// A function of its own for each level of the chain, so that a program that puts back what it found also puts back the
// level.
template <unsigned Level>
void on_fault(int signal, siginfo_t* info, void* context) {
  handle(Level, signal, info, context);
}

template <std::size_t... Levels>
constexpr std::array<FaultHandler*, sizeof...(Levels)> make_entries(std::index_sequence<Levels...>) {
  return {on_fault<Levels>...};
}
constexpr auto kEntries = make_entries(std::make_index_sequence<HandlerChain::kLevels>());

bool is_ours(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) == 0) return false;
  for (FaultHandler* const entry : kEntries) {
    if (action.sa_sigaction == entry) return true;
  }
  return false;
}

void install(int signal) {
  struct sigaction current;
  if (sigaction(signal, nullptr, &current) != 0 || is_ours(current)) return;
  const unsigned level = chain_of(signal).level_before(current);
  if (level == HandlerChain::kLevels) return;
  struct sigaction action{};
  action.sa_sigaction = kEntries[level];
  // NODEFER: a fault in a handler that is passed a fault is a fault like any other. The stack is the one that the next
  // handler would have had; a handler without a next one survives a stack overflow that way.
  const int stack = has_handler(current) ? current.sa_flags & (SA_ONSTACK | SA_RESTART) : SA_ONSTACK;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | stack;
  // The program's handlers must not interrupt a range's handler, which may hold a lock.
  action.sa_mask = model::all_but_faults();
  sigaction(signal, &action, nullptr);
}

void install_both() {
  install(SIGSEGV);
  install(SIGBUS);
}

}  // namespace

void put_in_front() {
  install_both();
  steps.store(0, std::memory_order_relaxed);
  installed.store(true, std::memory_order_release);
}

void stay_in_front() {
  if (!installed.load(std::memory_order_acquire)) return;
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  if (last_tick.load(std::memory_order_relaxed) != time.tv_nsec) {
    last_tick.store(time.tv_nsec, std::memory_order_relaxed);
    steps.store(0, std::memory_order_relaxed);
  }
  const unsigned step = steps.load(std::memory_order_relaxed);
  steps.store(step + 1, std::memory_order_relaxed);
  if (step < kFirst || step % kPeriod == 0) install_both();
}

}  // namespace verbs::soft::guard
