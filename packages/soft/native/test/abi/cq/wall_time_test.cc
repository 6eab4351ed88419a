#include <doctest/doctest.h>

#include <random>

#include "abi/objects/locks.h"

using verbs::soft::abi::WallTime;
using verbs::soft::host::Nanos;

TEST_CASE("wall-clock timestamps never run backwards, whatever the wall clock does, and follow it in the end") {
  std::mt19937 random(5);
  const auto below = [&](Nanos limit) { return static_cast<Nanos>(random() % static_cast<std::uint64_t>(limit)); };
  WallTime time;
  Nanos at = 1000, last = INT64_MIN, offset = 1'700'000'000'000'000'000;
  for (int poll = 0; poll < 20'000; ++poll) {
    at += below(1'000'000);
    offset += below(200) - 100;                                        // the two clocks are not read at once
    if (poll % 1000 == 999) offset += below(20'000'000) - 10'000'000;  // someone sets the clock
    time.synchronize(at, offset);
    for (Nanos entry = below(4); entry >= 0; --entry) {
      const Nanos wall = time.read(at);
      CHECK(wall == time.read(at));
      REQUIRE(wall >= last);
      last = wall;
      at += below(100);
    }
  }
  at += 60'000'000'000;
  time.synchronize(at, offset);
  CHECK(time.read(at) == at + offset);
}
