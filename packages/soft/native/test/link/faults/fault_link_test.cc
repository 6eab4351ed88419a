#include "link/faults/fault_link.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "link/inproc/inproc_link.h"
#include "test/link/support/memory_link.h"
#include "wire/icrc.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

struct Bench {
  MemoryLink wire;
  FaultLink faults{wire};
  Collector collector;

  explicit Bench(const std::optional<FaultPlan>& plan) { faults.set_plan(plan); }

  void send_numbers(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) send(faults, numbered_frame(i));
    faults.flush();
  }
  std::vector<std::uint32_t> sent() const {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(wire.sent.size());
    for (const Frame& frame : wire.sent) numbers.push_back(number_of(frame));
    return numbers;
  }
};

FaultPlan plan_with(double FaultPlan::* fault, double probability) {
  FaultPlan plan;
  plan.*fault = probability;
  return plan;
}

}  // namespace

TEST_CASE("without a plan frames pass untouched both ways") {
  Bench bench(std::nullopt);
  bench.send_numbers(3);
  CHECK(bench.sent() == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(bench.wire.sent[1] == numbered_frame(1));
  bench.wire.arriving = {numbered_frame(7), numbered_frame(8)};
  CHECK(bench.faults.receive(bench.collector, 1) == 1);
  CHECK(bench.faults.receive(bench.collector, 8) == 1);
  CHECK(bench.collector.frames.size() == 2);
  CHECK(bench.faults.next_deadline() == INT64_MAX);
  CHECK(bench.faults.fixed_source_port() == 4791);
  CHECK(bench.faults.wait_fd() == -1);
}

TEST_CASE("a frame without its ICRC gets it in front of a fault plan, in both directions") {
  InprocLink near(ipv4_gid(127, 0, 0, 1), nullptr, [] {}), far(ipv4_gid(127, 0, 0, 2), nullptr, [] {});
  FaultLink at_near(near), at_far(far);
  FormCollector collector;
  SUBCASE("of the sender") {
    at_near.set_plan(plan_with(&FaultPlan::duplicate, 1));
    send_unsealed(at_near, unsealed(numbered_frame(1)));
    at_near.flush();
    at_far.receive(collector, 8);
    CHECK(collector.unsealed.empty());
  }
  SUBCASE("of the receiver") {
    FaultPlan plan = plan_with(&FaultPlan::duplicate, 1);
    plan.direction = FaultDirection::kIngress;
    at_far.set_plan(plan);
    send_unsealed(at_near, unsealed(numbered_frame(1)));
    at_near.flush();
    at_far.receive(collector, 8);
    CHECK(collector.unsealed.empty());
  }
  CHECK(collector.sealed == std::vector<Frame>{numbered_frame(1), numbered_frame(1)});
}

TEST_CASE("probability one hits every frame, zero hits none") {
  SUBCASE("drop") {
    Bench bench(plan_with(&FaultPlan::drop, 1));
    bench.send_numbers(50);
    CHECK(bench.wire.sent.empty());
    CHECK(bench.faults.egress_counters().dropped == 50);
    CHECK(bench.faults.egress_counters().passed == 0);
  }
  SUBCASE("duplicate") {
    Bench bench(plan_with(&FaultPlan::duplicate, 1));
    bench.send_numbers(2);
    CHECK(bench.sent() == std::vector<std::uint32_t>{0, 0, 1, 1});
    CHECK(bench.wire.sent[0] == bench.wire.sent[1]);
    CHECK(bench.faults.egress_counters().duplicated == 2);
  }
  SUBCASE("none") {
    Bench bench(FaultPlan{});
    bench.send_numbers(50);
    CHECK(bench.wire.sent.size() == 50);
    for (std::uint32_t i = 0; i < 50; ++i) CHECK(bench.wire.sent[i] == numbered_frame(i));
    CHECK(bench.faults.egress_counters().passed == 50);
  }
}

TEST_CASE("a corruption is one bit, behind the network headers, and the ICRC always sees it") {
  Bench bench(plan_with(&FaultPlan::corrupt, 1));
  bench.send_numbers(500);
  REQUIRE(bench.wire.sent.size() == 500);
  CHECK(bench.faults.egress_counters().corrupted == 500);
  std::map<std::size_t, int> places;
  for (std::uint32_t i = 0; i < 500; ++i) {
    const Frame& frame = bench.wire.sent[i];
    const Frame original = numbered_frame(i);
    REQUIRE(frame.size() == original.size());
    int bits = 0;
    for (std::size_t at = 0; at < frame.size(); ++at) {
      const int changed = __builtin_popcount(frame[at] ^ original[at]);
      if (changed != 0) ++places[at];
      bits += changed;
    }
    CHECK(bits == 1);
    CHECK_FALSE(wire::check_icrc(frame));
  }
  CHECK(places.begin()->first == 28);
  CHECK(places.rbegin()->first == numbered_frame(0).size() - 1);
  CHECK(places.count(32) == 0);
}

TEST_CASE("a truncated frame keeps its network headers") {
  Bench bench(plan_with(&FaultPlan::truncate, 1));
  bench.send_numbers(200);
  REQUIRE(bench.wire.sent.size() == 200);
  CHECK(bench.faults.egress_counters().truncated == 200);
  std::size_t shortest = SIZE_MAX, longest = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const Frame& frame = bench.wire.sent[i];
    shortest = std::min(shortest, frame.size());
    longest = std::max(longest, frame.size());
    CHECK(std::equal(frame.begin(), frame.end(), numbered_frame(i).begin()));
    CHECK_FALSE(wire::parse_frame(frame));
  }
  CHECK(shortest >= 28);
  CHECK(longest < numbered_frame(0).size());
  CHECK(longest > shortest + 20);
}

TEST_CASE("rates come out near their probability") {
  FaultPlan plan;
  plan.drop = 0.1;
  plan.duplicate = 0.05;
  plan.corrupt = 0.02;
  plan.seed = 42;
  Bench bench(plan);
  bench.send_numbers(10000);
  const FaultCounters counters = bench.faults.egress_counters();
  CHECK(counters.dropped + counters.passed == 10000);
  CHECK(counters.dropped > 900);
  CHECK(counters.dropped < 1100);
  CHECK(counters.duplicated > 380);
  CHECK(counters.duplicated < 520);
  CHECK(counters.corrupted > 130);
  CHECK(counters.corrupted < 230);
  CHECK(bench.wire.sent.size() == counters.passed + counters.duplicated);
}

TEST_CASE("the same seed gives the same frames at the same times, another seed others") {
  auto run = [](std::uint64_t seed) {
    FaultPlan plan;
    plan.direction = FaultDirection::kBoth;
    plan.drop = 0.1;
    plan.duplicate = 0.1;
    plan.reorder = 0.1;
    plan.corrupt = 0.1;
    plan.truncate = 0.1;
    plan.jitter = 1000;
    plan.seed = seed;
    Bench bench(plan);
    std::vector<std::pair<Nanos, Frame>> trace;
    std::size_t sent = 0, received = 0;
    for (std::uint32_t i = 0; i < 500; ++i) {
      const Nanos now = Nanos{i} * 100;
      bench.faults.advance(now);
      send(bench.faults, numbered_frame(i));
      bench.faults.flush();
      bench.wire.arriving.push_back(numbered_frame(i));
      bench.faults.receive(bench.collector, 16);
      for (; sent < bench.wire.sent.size(); ++sent) trace.emplace_back(now, bench.wire.sent[sent]);
      for (; received < bench.collector.frames.size(); ++received) {
        trace.emplace_back(-now, bench.collector.frames[received]);
      }
    }
    return trace;
  };
  const auto first = run(1);
  CHECK(first.size() > 800);
  CHECK(first == run(1));
  CHECK(first != run(2));
}

TEST_CASE("changing one probability leaves the other decisions alone") {
  auto dropped = [](double duplicate, double corrupt) {
    FaultPlan plan;
    plan.drop = 0.2;
    plan.duplicate = duplicate;
    plan.corrupt = corrupt;
    Bench bench(plan);
    std::vector<bool> gone;
    for (std::uint32_t i = 0; i < 300; ++i) {
      const auto before = bench.faults.egress_counters().dropped;
      send(bench.faults, numbered_frame(i));
      gone.push_back(bench.faults.egress_counters().dropped != before);
    }
    return gone;
  };
  CHECK(dropped(0, 0) == dropped(0.5, 0.5));
}

TEST_CASE("a delayed frame leaves when it is due, not before") {
  FaultPlan plan;
  plan.delay = 1000;
  Bench bench(plan);
  bench.faults.advance(5000);
  bench.send_numbers(2);
  CHECK(bench.wire.sent.empty());
  CHECK(bench.faults.next_deadline() == 6000);
  bench.faults.advance(5999);
  CHECK(bench.wire.sent.empty());
  bench.faults.advance(6000);
  CHECK(bench.sent() == std::vector<std::uint32_t>{0, 1});
  CHECK(bench.wire.sent[0] == numbered_frame(0));
  CHECK(bench.faults.next_deadline() == INT64_MAX);
  CHECK(bench.faults.egress_counters().delayed == 2);
}

TEST_CASE("reordered frames are overtaken and none is lost") {
  FaultPlan plan;
  plan.reorder = 0.3;
  plan.reorder_delay = 500;
  Bench bench(plan);
  for (std::uint32_t i = 0; i < 200; ++i) {
    bench.faults.advance(Nanos{i} * 100);
    send(bench.faults, numbered_frame(i));
    bench.faults.flush();
  }
  bench.faults.advance(1'000'000);
  auto numbers = bench.sent();
  CHECK(bench.faults.egress_counters().reordered > 30);
  CHECK_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  std::sort(numbers.begin(), numbers.end());
  REQUIRE(numbers.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(numbers[i] == i);
}

TEST_CASE("jitter stays within its bounds") {
  FaultPlan plan;
  plan.delay = 100;
  plan.jitter = 50;
  Bench bench(plan);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Nanos now = Nanos{i} * 1000;
    bench.faults.advance(now);
    send(bench.faults, numbered_frame(i));
    const Nanos due = bench.faults.next_deadline();
    CHECK(due >= now + 100);
    CHECK(due < now + 150);
    bench.faults.advance(due);
    CHECK(bench.wire.sent.size() == i + 1);
  }
}

TEST_CASE("frames beyond the capacity are lost and counted") {
  FaultPlan plan;
  plan.delay = 1000;
  plan.capacity = 3;
  Bench bench(plan);
  bench.send_numbers(5);
  CHECK(bench.faults.egress_counters().overflow == 2);
  bench.faults.advance(1000);
  CHECK(bench.sent() == std::vector<std::uint32_t>{0, 1, 2});
  bench.send_numbers(1);
  bench.faults.advance(2000);
  CHECK(bench.wire.sent.size() == 4);
}

TEST_CASE("ingress faults touch arriving frames only") {
  FaultPlan plan;
  plan.direction = FaultDirection::kIngress;
  plan.duplicate = 1;
  plan.delay = 10;
  Bench bench(plan);
  bench.send_numbers(1);
  CHECK(bench.wire.sent.size() == 1);
  bench.wire.arriving = {numbered_frame(4), numbered_frame(5)};
  CHECK(bench.faults.receive(bench.collector, 8) == 2);
  CHECK(bench.collector.frames.empty());
  CHECK(bench.faults.next_deadline() == 10);
  bench.faults.advance(10);
  CHECK(bench.faults.receive(bench.collector, 3) == 3);
  CHECK(bench.faults.receive(bench.collector, 3) == 1);
  REQUIRE(bench.collector.frames.size() == 4);
  CHECK(bench.collector.frames[1] == numbered_frame(4));
  CHECK(bench.collector.frames[2] == numbered_frame(5));
  CHECK(bench.faults.ingress_counters().duplicated == 2);
  CHECK(bench.faults.egress_counters().passed == 0);
}

TEST_CASE("a plan that ends drops its delayed frames") {
  FaultPlan plan;
  plan.delay = 10;
  Bench bench(plan);
  bench.send_numbers(3);
  bench.faults.set_plan(std::nullopt);
  bench.faults.advance(100);
  CHECK(bench.wire.sent.empty());
  bench.send_numbers(1);
  CHECK(bench.wire.sent.size() == 1);
}
