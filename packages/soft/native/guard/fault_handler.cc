#include "guard/fault_handler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "guard/access_guard.h"
#include "guard/fault_signals.h"
#include "guard/small_copy.h"
#include "include/verbs_soft_worker.h"

namespace verbs::soft::guard {
namespace {

// The handlers that were found installed, for one signal. Each time that the fault handler is put in front of another
// one it takes the next level, which remembers that one. A fault goes to the handler of its level. If that handler
// chains to a level of ours the fault goes to that level's; no level passes the same fault on twice, so that handlers
// which take each other as the previous one come to an end.

using FaultHandler = void(int, siginfo_t*, void*);

class HandlerChain {
 public:
  static constexpr unsigned kLevels = 16;

  // A level whose next handler is `found`: the one that has it, or a new one. Without a free one the last is reused;
  // kLevels without memory.
  unsigned level_before(const struct sigaction& found);

  // Calls the next handler of `level`, under the mask that the kernel would have given it. Without one the process ends
  // as it would have ended without a handler.
  void pass_on(unsigned level, int signal, siginfo_t* info, const ucontext_t* context);

 private:
  // Each points to a copy that is never freed, since a handler may be reading it.
  std::atomic<const struct sigaction*> next_[kLevels] = {};
};

constexpr struct sigaction kDefault = {};
constexpr std::size_t kKernelMask = 8;  // bytes of a signal mask in the kernel's structures

// The levels that have passed a fault on, in the unused end of its siginfo: the kernel clears it, and it goes with the
// fault through other handlers.
struct Mark {
  static constexpr std::uint32_t kMagic = 0x76657266;
  std::uint32_t magic;
  std::uint32_t levels;

  static char* place(siginfo_t* info) { return reinterpret_cast<char*>(info) + sizeof *info - sizeof(Mark); }
  static Mark read(siginfo_t* info) {
    Mark mark;
    std::memcpy(&mark, place(info), sizeof mark);
    return mark.magic == kMagic ? mark : Mark{kMagic, 0};
  }
  void write(siginfo_t* info) const { std::memcpy(place(info), this, sizeof *this); }
};

bool same(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags &&
         std::memcmp(&a.sa_mask, &b.sa_mask, kKernelMask) == 0;
}

// The process ends when the handler returns: by the fault as it was, where it was, so that a core shows it.
void take_default(int signal, const siginfo_t* info) {
  sigaction(signal, &kDefault, nullptr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  siginfo_t clean = *info;
  const Mark none{};
  none.write(&clean);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &clean);
}

// The mask under which the kernel would have called `next`.
void set_mask_for(const struct sigaction& next, int signal, const ucontext_t* context) {
  sigset_t interrupted, mask;
  sigemptyset(&interrupted);
  std::memcpy(&interrupted, &context->uc_sigmask, kKernelMask);
  sigorset(&mask, &interrupted, &next.sa_mask);
  if ((next.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

// Neither SIG_DFL nor SIG_IGN.
bool has_handler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

unsigned HandlerChain::level_before(const struct sigaction& found) {
  const auto* copy = new (std::nothrow) struct sigaction(found);
  if (!copy) return kLevels;
  for (unsigned level = 0; level < kLevels; ++level) {
    const struct sigaction* next = next_[level].load(std::memory_order_acquire);
    if (!next) {
      if (next_[level].compare_exchange_strong(next, copy, std::memory_order_acq_rel)) return level;
    }
    if (same(*next, found)) {
      delete copy;
      return level;
    }
  }
  next_[kLevels - 1].store(copy, std::memory_order_release);
  return kLevels - 1;
}

void HandlerChain::pass_on(unsigned level, int signal, siginfo_t* info, const ucontext_t* context) {
  Mark mark = Mark::read(info);
  while ((mark.levels >> level & 1) != 0) {
    if (level == 0) return take_default(signal, info);
    --level;
  }
  mark.levels |= 1u << level;
  mark.write(info);
  const struct sigaction* next = next_[level].load(std::memory_order_acquire);
  if (!next) next = &kDefault;
  const bool sent = info->si_code <= 0;
  if (!has_handler(*next)) {
    // A fault that is ignored ends the process, too.
    if (next->sa_handler == SIG_DFL || !sent) take_default(signal, info);
    return;
  }
  if ((next->sa_flags & SA_RESETHAND) != 0) next_[level].store(&kDefault, std::memory_order_release);
  set_mask_for(*next, signal, context);
  if ((next->sa_flags & SA_SIGINFO) != 0) {
    next->sa_sigaction(signal, info, const_cast<ucontext_t*>(context));
  } else {
    next->sa_handler(signal);
  }
}

// Lets a thread continue elsewhere when it returns from a signal handler. Compared with a jump out of the handler, the
// kernel restores the signal mask and the alternate stack, and handlers through which the fault was passed end
// properly.

// Never returns to where the fault was.
using Landing = void();

inline void continue_at(ucontext_t* context, Landing* landing) {
#if defined(__x86_64__)
  greg_t* registers = context->uc_mcontext.gregs;
  constexpr greg_t kRedZone = 128;      // below the stack pointer, in use by the function that faulted
  constexpr greg_t kDirection = 0x400;  // clear in every function at its start
  // As after a call: a multiple of 16, less the return address.
  registers[REG_RSP] = ((registers[REG_RSP] - kRedZone) & ~greg_t{15}) - 8;
  registers[REG_EFL] &= ~kDirection;
  registers[REG_RIP] = reinterpret_cast<greg_t>(landing);
#elif defined(__aarch64__)
  constexpr unsigned long long kBranchType = 3ull << 10;  // no indirect branch leads to the landing
  context->uc_mcontext.pstate &= ~kBranchType;
  context->uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(landing);
#else
  // The same by hand: the mask of the interrupted code, then the jump.
  pthread_sigmask(SIG_SETMASK, &context->uc_sigmask, nullptr);
  landing();
#endif
}

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
