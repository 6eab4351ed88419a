// The flags and the mask with which a program installed its handler hold when a fault is passed on to it.
#include <setjmp.h>

#include "guard/fault_handler.h"
#include "test/guard/fault_child.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

bool blocked(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

void block(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

void mend(const siginfo_t* info) { mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE); }

void note_mask(int, siginfo_t* info, void*) {
  ++seen()->first;
  if (!blocked(SIGSEGV) || !blocked(SIGUSR1) || !blocked(SIGUSR2) || blocked(SIGTERM)) ++seen()->wrong;
  mend(info);
}

void note_open_mask(int, siginfo_t* info, void*) {
  ++seen()->first;
  if (blocked(SIGSEGV) || !blocked(SIGUSR1) || blocked(SIGUSR2)) ++seen()->wrong;
  mend(info);
}

void once(int, siginfo_t* info, void*) {
  ++seen()->first;
  mend(info);
}

char alternate_stack[65536];

void note_stack(int, siginfo_t* info, void*) {
  const char here = 0;
  if (&here < alternate_stack || &here >= alternate_stack + sizeof alternate_stack) ++seen()->second;
  mend(info);
}

sigjmp_buf probe;
void leave(int, siginfo_t*, void*) {
  ++seen()->first;
  siglongjmp(probe, 1);
}

}  // namespace

TEST_CASE("the handler runs under its own mask and that of the code that faulted") {
  CHECK(ended_by([] {
          struct sigaction action{};
          action.sa_sigaction = note_mask;
          action.sa_flags = SA_SIGINFO;
          sigaddset(&action.sa_mask, SIGUSR2);
          sigaction(SIGSEGV, &action, nullptr);
          guard::put_in_front();
          block(SIGUSR1);
          fault_elsewhere();
          if (blocked(SIGSEGV) || !blocked(SIGUSR1) || blocked(SIGUSR2)) _exit(1);
        }) == 1000);
  CHECK(seen()->first == 1);
  CHECK(seen()->wrong == 0);
}

TEST_CASE("SA_NODEFER") {
  CHECK(ended_by([] {
          install(SIGSEGV, note_open_mask, SA_NODEFER);
          guard::put_in_front();
          block(SIGUSR1);
          fault_elsewhere();
        }) == 1000);
  CHECK(seen()->first == 1);
  CHECK(seen()->wrong == 0);
}

TEST_CASE("SA_RESETHAND") {
  CHECK(ended_by([] {
          install(SIGSEGV, once, static_cast<int>(SA_RESETHAND));
          guard::put_in_front();
          fault_elsewhere();
          if (*hole() != 1) _exit(1);
          mprotect(const_cast<char*>(hole()), 4096, PROT_NONE);
          if (!guard_holds()) _exit(2);
          fault_elsewhere();
        }) == SIGSEGV);
  CHECK(seen()->first == 1);
}

TEST_CASE("SA_ONSTACK: the handler has the stack that it would have had") {
  for (const bool alternate : {false, true}) {
    CAPTURE(alternate);
    CHECK(ended_by([=] {
            const stack_t own = {.ss_sp = alternate_stack, .ss_flags = 0, .ss_size = sizeof alternate_stack};
            sigaltstack(&own, nullptr);
            install(SIGSEGV, note_stack, alternate ? SA_ONSTACK : 0);
            guard::put_in_front();
            if (!guard_holds()) _exit(1);
            fault_elsewhere();
          }) == 1000);
    CHECK(seen()->second == (alternate ? 0 : 1));
  }
}

TEST_CASE("a handler that jumps out of the fault gets the next one, too") {
  CHECK(ended_by([] {
          install(SIGSEGV, leave);
          guard::put_in_front();
          for (int i = 0; i < 1000; ++i) {
            if (sigsetjmp(probe, 1) == 0) fault_elsewhere();
            if (!guard_holds()) _exit(1);
          }
        }) == 1000);
  CHECK(seen()->first == 1000);
}
