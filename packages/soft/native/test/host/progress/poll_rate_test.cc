#include <doctest/doctest.h>

#include "host/progress/progress.h"

using namespace verbs::soft::host;

namespace {

constexpr Nanos kMicro = 1000;

struct Poller {
  // Polls `times` times, `gap` apart.
  void poll(int times, Nanos gap) {
    for (int i = 0; i < times; ++i) {
      rate.count();
      rate.stamp(time);
      time += gap;
    }
  }
  Nanos judge() { return rate.judge(time); }

  PollRate rate;
  Nanos time = 1'000'000'000;
};

}  // namespace

TEST_CASE_FIXTURE(Poller, "a thread that polls all the time is believed longer and longer, up to a millisecond") {
  CHECK(judge() == 0);
  poll(20, kMicro);
  Nanos belief = judge();
  CHECK(belief == PollRate::kFirstBelief);
  for (int i = 0; i < 10; ++i) {
    poll(static_cast<int>(belief / kMicro), kMicro);
    const Nanos next = judge();
    CHECK(next == std::min(2 * belief, PollRate::kBelief));
    belief = next;
  }
}

TEST_CASE_FIXTURE(Poller, "one that polls every millisecond never is, whenever it is looked at") {
  for (int i = 0; i < 200; ++i) {
    poll(1, 0);
    for (int packet = 0; packet < 10; ++packet) {
      time += 100 * kMicro;
      CHECK(judge() == 0);
    }
  }
}

TEST_CASE_FIXTURE(Poller, "a burst of polls is believed for a moment only") {
  judge();
  poll(50, kMicro);
  time += judge();
  time += judge();
  CHECK(judge() == 0);
  CHECK(time <= 1'000'000'000 + 250 * kMicro);
}

TEST_CASE_FIXTURE(Poller, "few polls that each take long keep the belief") {
  judge();
  poll(20, kMicro);
  for (int i = 0; i < 20; ++i) {
    const Nanos belief = judge();
    REQUIRE(belief != 0);
    const Nanos end = time + belief;
    while (time < end) poll(1, 40 * kMicro);
    rate.stamp(time - 10 * kMicro);
  }
}

TEST_CASE_FIXTURE(Poller, "polls that find completions, without a look at the clock, count too") {
  judge();
  for (int i = 0; i < 5; ++i) {
    for (int polls = 0; polls < 100; ++polls) rate.count();
    time += 100 * kMicro;
    CHECK(judge() != 0);
  }
}

TEST_CASE_FIXTURE(Poller, "a thread that posts on and on is asked to receive, and is believed then") {
  judge();
  int received = 0;
  for (int post = 0; post < 100; ++post) {
    time += 2 * kMicro;
    if (!rate.posted(time)) continue;
    poll(1, 0);
    ++received;
  }
  CHECK(received >= PollRate::kPolls);
  CHECK(judge() == PollRate::kFirstBelief);
}

TEST_CASE_FIXTURE(Poller, "posts between polls receive nothing, nor does the first post after an event") {
  for (int round = 0; round < 10; ++round) {
    poll(1, kMicro);
    for (int post = 0; post < 4; ++post) CHECK_FALSE(rate.posted(time += kMicro));
    time += 100 * kMicro;
    rate.fetched();
    CHECK_FALSE(rate.posted(time));
    CHECK(rate.posted(time + kMicro));
  }
}
