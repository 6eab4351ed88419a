// Guarded accesses: on any stack, under any mask, and without a trace of the fault afterwards.
#include <cerrno>

#include "guard/access_guard.h"
#include "guard/fault_handler.h"
#include "guard/fault_signals.h"
#include "test/guard/fault_child.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

sigset_t mask_now() {
  sigset_t now;
  sigemptyset(&now);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return now;
}

bool same(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(&a, signal) != sigismember(&b, signal)) return false;
  }
  return true;
}

bool pending(int signal) {
  sigset_t now;
  sigpending(&now);
  return sigismember(&now, signal) == 1;
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// A hundred guarded accesses that fault, each in a step of its own.
void fault_often() {
  const sigset_t before = mask_now();
  for (int i = 0; i < 100; ++i) {
    guard::admit_fault_signals();
    if (!guard_holds() || !guard_holds()) _exit(1);
    guard::restore_fault_signals();
    if (!same(mask_now(), before)) _exit(2);
  }
}

char stack[65536];

}  // namespace

TEST_CASE("the mask is the same after a hundred faults, whatever it blocks") {
  CHECK(ended_by([] {
          guard::put_in_front();
          fault_often();
        }) == 1000);
  CHECK(ended_by([] {
          guard::put_in_front();
          block_all();
          fault_often();
        }) == 1000);
  CHECK(ended_by([] {
          guard::put_in_front();
          sigset_t one;
          sigemptyset(&one);
          sigaddset(&one, SIGBUS);
          pthread_sigmask(SIG_BLOCK, &one, nullptr);
          fault_often();
        }) == 1000);
}

TEST_CASE("an alternate stack is as it was, also one that is disarmed while it is used") {
  constexpr int kAutoDisarm = static_cast<int>(1u << 31);
  for (const int flags : {0, kAutoDisarm}) {
    CAPTURE(flags);
    CHECK(ended_by([=] {
            const stack_t own = {.ss_sp = stack, .ss_flags = flags, .ss_size = sizeof stack};
            if (sigaltstack(&own, nullptr) != 0) _exit(3);
            guard::put_in_front();
            fault_often();
            stack_t now;
            sigaltstack(nullptr, &now);
            if (now.ss_sp != stack || now.ss_flags != flags) _exit(4);
          }) == 1000);
  }
}

TEST_CASE("a signal that was sent to a thread that blocks it stays pending through a step") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    CHECK(ended_by([=] {
            guard::put_in_front();
            block_all();
            if (before) kill(getpid(), SIGSEGV);
            guard::admit_fault_signals();
            if (!before) raise(SIGSEGV);
            if (!guard_holds() || pending(SIGSEGV)) _exit(1);
            guard::restore_fault_signals();
            if (!pending(SIGSEGV)) _exit(2);
            sigset_t one;
            sigemptyset(&one);
            sigaddset(&one, SIGSEGV);
            siginfo_t info;
            if (sigwaitinfo(&one, &info) != SIGSEGV || info.si_pid != getpid()) _exit(3);
            if (info.si_code != SI_USER) _exit(4);  // the C library says this for SI_TKILL, too
          }) == 1000);
  }
}

TEST_CASE("a fault outside of the bytes of a guarded access is not the access's") {
  CHECK(ended_by([] {
          guard::put_in_front();
          char mine = 0;
          guard::guarded(&mine, &mine, 1, [] { fault_elsewhere(); });
        }) == SIGSEGV);
  // A signal that somebody sends is no fault.
  CHECK(ended_by([] {
          guard::put_in_front();
          char mine = 0;
          guard::guarded(&mine, &mine, 1, [] { raise(SIGSEGV); });
        }) == SIGSEGV);
}

#if defined(__x86_64__)
TEST_CASE("addresses that no process has") {
  CHECK(ended_by([] {
          guard::put_in_front();
          for (const std::uintptr_t address :
               {std::uintptr_t{0}, std::uintptr_t{1} << 63, std::uintptr_t{1} << 47, ~std::uintptr_t{0}}) {
            auto* at = reinterpret_cast<volatile char*>(address);
            if (guard::guarded(const_cast<char*>(at), const_cast<char*>(at), 1, [=] {
                  char value;
                  __asm__ volatile("movb (%1), %0" : "=r"(value) : "r"(at) : "memory");
                })) {
              _exit(1);
            }
          }
        }) == 1000);
}
#endif

TEST_CASE("errno is as it was") {
  CHECK(ended_by([] {
          guard::put_in_front();
          errno = 77;
          if (!guard_holds() || errno != 77) _exit(1);
        }) == 1000);
}

namespace {

int take(void* data, void* info, void*) {
  ++seen()->first;
  if (data != seen()) ++seen()->wrong;
  mprotect(static_cast<siginfo_t*>(info)->si_addr, 4096, PROT_READ | PROT_WRITE);
  sigset_t now = mask_now();
  if (sigismember(&now, SIGALRM) != 1 || sigismember(&now, SIGSEGV) == 1) ++seen()->wrong;
  return 1;
}

int refuse(void*, void*, void*) {
  ++seen()->second;
  return 0;
}

}  // namespace

TEST_CASE("faults in a watched range are its handler's") {
  CHECK(ended_by([] {
          guard::put_in_front();
          char* page = const_cast<char*>(hole());
          guard::WatchedRanges& ranges = guard::watched_ranges();
          if (ranges.add(page, 4096, take, seen()) != 0) _exit(1);
          fault_elsewhere();
          if (*page != 1 || seen()->first != 1) _exit(2);
          mprotect(page, 4096, PROT_NONE);
          if (ranges.remove(page) != 0 || ranges.remove(page) != ENOENT) _exit(3);
          if (ranges.add(page, 4096, refuse, nullptr) != 0) _exit(4);
          fault_elsewhere();
        }) == SIGSEGV);
  CHECK(seen()->first == 1);
  CHECK(seen()->second == 1);
  CHECK(seen()->wrong == 0);
}

TEST_CASE("watched ranges that are refused") {
  guard::WatchedRanges ranges;
  char memory[256];
  CHECK(ranges.add(memory, 0, refuse, nullptr) == EINVAL);
  CHECK(ranges.add(memory, SIZE_MAX, refuse, nullptr) == EINVAL);
  CHECK(ranges.add(memory, 16, nullptr, nullptr) == EINVAL);
  REQUIRE(ranges.add(memory + 16, 16, refuse, nullptr) == 0);
  CHECK(ranges.add(memory + 31, 4, refuse, nullptr) == EEXIST);
  CHECK(ranges.add(memory, 17, refuse, nullptr) == EEXIST);
  CHECK(ranges.add(memory, 16, refuse, nullptr) == 0);
  for (std::size_t i = 2; i < guard::WatchedRanges::kCapacity; ++i) {
    REQUIRE(ranges.add(memory + 31 + i, 1, refuse, nullptr) == 0);
  }
  CHECK(ranges.add(memory + 200, 1, refuse, nullptr) == ENOMEM);
  for (std::size_t i = 2; i < guard::WatchedRanges::kCapacity; ++i) CHECK(ranges.remove(memory + 31 + i) == 0);
  CHECK(ranges.remove(memory) == 0);
  CHECK(ranges.remove(memory + 16) == 0);
}
