#include "guard/known_mask.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

namespace verbs::soft::guard {
namespace {

constexpr int kCalls = 64;
// The share of a system call's time that is certainly less than one: the processor may be faster later, at a higher
// clock or without a neighbour that shares its core, and the counter is not.
constexpr std::uint64_t kShare = 4;
constexpr std::uint64_t kCoarse = 8;  // ticks; a counter that makes less in that time is one or two late at each end
constexpr std::uint64_t kUnmeasured = UINT64_MAX;

// The shortest of all.
std::atomic<std::uint64_t> shortest{kUnmeasured};

std::uint64_t time_of_call() {
  sigset_t mask;
  const std::uint64_t begin = ticks();
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return ticks() - begin;
}

std::uint64_t time_of_nothing() {
  const std::uint64_t begin = ticks();
  return ticks() - begin;
}

std::uint64_t measure() {
  std::uint64_t call = time_of_call();
  std::uint64_t nothing = time_of_nothing();
  for (int i = 0; i < kCalls; ++i) {
    call = std::min(call, time_of_call());
    nothing = std::min(nothing, time_of_nothing());
  }
  // On some virtual machines reading the counter is a trap itself. Then it saves nothing.
  return nothing < call / kShare ? call - nothing : 0;
}

}  // namespace

constinit std::atomic<std::uint64_t> KnownMask::limit{0};
constinit thread_local KnownMask known_mask VERBS_FAST_TLS;

void KnownMask::learn(std::uint64_t taken) {
  const std::uint64_t before = shortest.load(std::memory_order_relaxed);
  const std::uint64_t now = std::min(taken, before == kUnmeasured ? measure() : before);
  if (now != before) {
    shortest.store(now, std::memory_order_relaxed);
    limit.store(now / kShare >= kCoarse ? now / kShare : 0, std::memory_order_relaxed);
  }
  known_ = limit.load(std::memory_order_relaxed) != 0;
}

}  // namespace verbs::soft::guard
