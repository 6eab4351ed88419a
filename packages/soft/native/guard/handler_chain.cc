#include "guard/handler_chain.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace verbs::soft::guard {
namespace {

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

}  // namespace

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

}  // namespace verbs::soft::guard
