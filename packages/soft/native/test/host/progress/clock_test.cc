// The time by the processor's counter beside the kernel's.
#include "host/progress/clock.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace verbs::soft::host;

TEST_CASE("a counter that was reset, or went on while the machine was suspended, tells no speed") {
  constexpr Nanos kSecond = 1000 * kMillisecond;
  CHECK(CounterClock::scale_of(2'000'000'000, kSecond) == std::uint64_t{1} << 31);
  CHECK(CounterClock::scale_of(800'000'000, kSecond) == std::uint64_t{5} << 30);
  CHECK(CounterClock::scale_of(std::uint64_t{3'000'000'000} * 60, kSecond) == 0);
  CHECK(CounterClock::scale_of(std::uint64_t(-1'000'000'000), kSecond) == 0);
  CHECK(CounterClock::scale_of(1000, kSecond) == 0);
  CHECK(CounterClock::scale_of(0, kSecond) == 0);
}

TEST_CASE("the time is the kernel's, to a microsecond, also where it goes back") {
  constexpr Nanos kError = 1100;
  // Long enough for the speed to be known, to be measured anew, and for many readings of the kernel's clock.
  const Nanos end = read_clock(CLOCK_MONOTONIC) + 1100 * kMillisecond;
  Nanos last = 0;
  Nanos behind = 0;
  Nanos ahead = 0;
  Nanos back = 0;
  for (Nanos before = 0; before < end;) {
    before = read_clock(CLOCK_MONOTONIC);
    const Nanos time = now();
    const Nanos after = read_clock(CLOCK_MONOTONIC);
    behind = std::max(behind, before - time);
    ahead = std::max(ahead, time - after);
    back = std::max(back, last - time);
    last = time;
  }
  CHECK(behind < kError);
  CHECK(ahead < kError);
  CHECK(back < kError);
}
