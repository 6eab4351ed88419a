// Lets a thread continue elsewhere when it returns from a signal handler. Compared with a jump out of the handler, the
// kernel restores the signal mask and the alternate stack, and handlers through which the fault was passed end
// properly.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstddef>

namespace verbs::soft::guard {

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

}  // namespace verbs::soft::guard
