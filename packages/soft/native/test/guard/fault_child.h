// A forked child in which something faults. What it did is its wait status, and what its handlers counted is in memory
// that it shares with the test.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "guard/access_guard.h"

namespace verbs::soft::test {

// Counters of the child.
struct Seen {
  std::atomic<int> first, second, third;
  std::atomic<int> wrong;
};

inline Seen* seen() {
  static auto* memory =
      static_cast<Seen*>(mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return memory;
}

// The signal that ended the child, or 1000 plus its exit status. A hang ends by SIGALRM.
template <typename Body>
int ended_by(Body body) {
  new (seen()) Seen{};
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(20);
    // Without the handlers of the test framework.
    for (const int signal : {SIGSEGV, SIGBUS}) ::signal(signal, SIG_DFL);
    const stack_t no_stack = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&no_stack, nullptr);
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 1000 + WEXITSTATUS(status);
}

// A page that is not there.
inline volatile char* hole() {
  static auto* page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return page;
}

// A fault that is none of ours.
__attribute__((noinline, no_sanitize("address", "thread"))) inline void fault_elsewhere() { *hole() = 1; }

// Whether a guarded access to memory that is not there ends as it should.
inline bool guard_holds() {
  volatile char* page = hole();
  return !guard::guarded(const_cast<char*>(page), const_cast<char*>(page), 1, [=] { *page = 1; });
}

inline struct sigaction install(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action{}, old;
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signal, &action, &old);
  return old;
}

// As a crash reporter calls the handler that it found.
inline void chain(const struct sigaction& old, int signal, siginfo_t* info, void* context) {
  if ((old.sa_flags & SA_SIGINFO) != 0) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler == SIG_DFL) {
    ::signal(signal, SIG_DFL);
  } else if (old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
  }
}

}  // namespace verbs::soft::test
