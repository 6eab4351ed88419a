// What a thread knows of its mask between two steps, and for how long.
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

}  // namespace

TEST_CASE("a thread believes what it has heard about its mask for a moment, and asks again") {
  guard::KnownMask mask;
  CHECK_FALSE(mask.admits_faults());
  int answers = 0;
  int believed = 0;
  while (answers < 100) {
    if (mask.admits_faults()) {
      ++believed;
    } else {
      mask.learn(kLong);
      ++answers;
    }
  }
  CHECK(believed > 100);
}

TEST_CASE("a thread that has blocked the signals for longer survives the fault of a step") {
  CHECK(ended_by([] {
          guard::put_in_front();
          for (int i = 0; i < 2'000; ++i) {
            guard::admit_fault_signals();
            guard::restore_fault_signals();
            change_mask(SIG_BLOCK);
            while (guard::known_mask.admits_faults()) {
            }
            guard::admit_fault_signals();
            if (!guard_holds()) _exit(1);
            guard::restore_fault_signals();
            change_mask(SIG_UNBLOCK);
          }
        }) == 1000);
}
