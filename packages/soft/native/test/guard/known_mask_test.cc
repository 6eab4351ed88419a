// What a thread knows of its mask between two steps, and that it is never wrong.
#include <sys/syscall.h>

#include "guard/fault_handler.h"
#include "guard/fault_signals.h"
#include "test/guard/fault_child.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint64_t kLong = UINT64_MAX - 1;  // the measured time decides

// By the shortest way into the kernel. A program that does not use the C library changes its mask like that.
void change_mask(int how) {
  const std::uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
  syscall(SYS_rt_sigprocmask, how, &faults, nullptr, sizeof faults);
}

// Of `count` steps right after one another, how many know the mask.
int known_steps(guard::KnownMask& mask, int count) {
  int known = 0;
  for (int i = 0; i < count; ++i) {
    mask.enter();
    if (mask.admits_faults()) {
      ++known;
    } else {
      mask.learn(kLong);
    }
    mask.leave();
  }
  return known;
}

}  // namespace

TEST_CASE("a thread that comes back at once knows its mask, and asks now and then") {
  guard::KnownMask mask;
  CHECK_FALSE(mask.admits_faults());
  const int known = known_steps(mask, 10'000);
  CHECK(known > 0);
  CHECK(known < 10'000 - 100);
}

TEST_CASE("a thread that was away in the kernel knows nothing") {
  guard::KnownMask mask;
  for (int i = 0; i < 100; ++i) {
    mask.learn(kLong);
    mask.leave();
    change_mask(SIG_UNBLOCK);
    mask.enter();
    CHECK_FALSE(mask.admits_faults());
  }
}

TEST_CASE("a thread that blocks the signals between two steps survives the fault of the second") {
  CHECK(ended_by([] {
          guard::put_in_front();
          for (int i = 0; i < 20'000; ++i) {
            for (int step = 0; step < 3; ++step) {  // the third knows from the second, as a rule
              guard::begin_step();
              guard::admit_fault_signals();
              guard::restore_fault_signals();
            }
            change_mask(SIG_BLOCK);
            guard::begin_step();
            guard::admit_fault_signals();
            if (!guard_holds()) _exit(1);
            guard::restore_fault_signals();
            change_mask(SIG_UNBLOCK);
          }
        }) == 1000);
}
