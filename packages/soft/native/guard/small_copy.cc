#include "guard/small_copy.h"

#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
// bool verbs_small_copy(to: rdi, from: rsi, size: rdx). It uses no stack, so that the failure can return from anywhere
// in it. From 16 bytes on the last 16 are loaded first and stored last, and the loop copies those before them.
asm(R"(
  .pushsection .text
  .p2align 5
  .globl verbs_small_copy
  .hidden verbs_small_copy
  .type verbs_small_copy, @function
verbs_small_copy:
  .cfi_startproc
  cmpq $16, %rdx
  jb 2f
  movups -16(%rsi,%rdx), %xmm1
  leaq -16(%rdx), %rcx
  xorl %eax, %eax
  testq %rcx, %rcx
  je 1f
0:
  movups (%rsi,%rax), %xmm0
  movups %xmm0, (%rdi,%rax)
  addq $16, %rax
  cmpq %rcx, %rax
  jb 0b
1:
  movups %xmm1, -16(%rdi,%rdx)
  movl $1, %eax
  ret
2:
  cmpl $8, %edx
  jb 3f
  movq (%rsi), %rax
  movq -8(%rsi,%rdx), %rcx
  movq %rax, (%rdi)
  movq %rcx, -8(%rdi,%rdx)
  movl $1, %eax
  ret
3:
  cmpl $4, %edx
  jb 4f
  movl (%rsi), %eax
  movl -4(%rsi,%rdx), %ecx
  movl %eax, (%rdi)
  movl %ecx, -4(%rdi,%rdx)
  movl $1, %eax
  ret
4:
  movzbl -1(%rsi,%rdx), %ecx
  cmpl $2, %edx
  jb 5f
  movzwl (%rsi), %eax
  movw %ax, (%rdi)
5:
  movb %cl, -1(%rdi,%rdx)
  movl $1, %eax
  ret
  .globl verbs_small_copy_failed
  .hidden verbs_small_copy_failed
verbs_small_copy_failed:
  xorl %eax, %eax
  ret
  .cfi_endproc
  .size verbs_small_copy, . - verbs_small_copy
  .popsection
)");

extern "C" {
bool verbs_small_copy(void* to, const void* from, std::size_t size);
void verbs_small_copy_failed();
}
#endif

namespace verbs::soft::guard {

#if defined(__x86_64__)

bool small_copy(void* to, const void* from, std::size_t size) { return verbs_small_copy(to, from, size); }

bool end_small_copy(const siginfo_t& info, ucontext_t* context) {
  greg_t& at = context->uc_mcontext.gregs[REG_RIP];
  const auto begin = reinterpret_cast<std::uintptr_t>(&verbs_small_copy);
  const auto failed = reinterpret_cast<std::uintptr_t>(&verbs_small_copy_failed);
  const auto pc = static_cast<std::uintptr_t>(at);
  const bool inside = pc >= begin && pc < failed;
  // Not for a signal that somebody sent, nor for a memory error that was found in passing.
  if (!inside || info.si_code <= 0 || (info.si_signo == SIGBUS && info.si_code == BUS_MCEERR_AO)) return false;
  at = static_cast<greg_t>(failed);
  return true;
}

#else

bool small_copy(void*, const void*, std::size_t) { std::abort(); }  // nobody calls it: kSmallCopy is 0
bool end_small_copy(const siginfo_t&, ucontext_t*) { return false; }

#endif

}  // namespace verbs::soft::guard
