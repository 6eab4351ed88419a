#include "link/inproc/inproc_link.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "test/abi/support/failing_new.h"
#include "test/link/support/memory_link.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
using namespace verbs::soft::test;
namespace wire = verbs::soft::wire;

namespace {

const wire::Gid kA = ipv4_gid(10, 0, 0, 1);
const wire::Gid kB = ipv4_gid(10, 0, 0, 2);
const wire::Gid kFar = ipv4_gid(10, 0, 0, 9);

Frame frame_to(const wire::Gid& to, std::uint32_t number) {
  wire::Path path;
  path.sgid = kA;
  path.dgid = to;
  return sealed_frame(path, number, 32);
}

void nothing() {}

void send_now(Transmitter& link, const Frame& frame) {
  send(link, frame);
  link.flush();
}

// Sends every received frame once more, a limited number of times.
class Echo final : public Receiver {
 public:
  Echo(Transmitter& out, int times) : out_(out), times_(times) {}
  void deliver(std::span<const std::uint8_t> frame) override {
    ++delivered;
    if (times_-- > 0) send_now(out_, Frame(frame.begin(), frame.end()));
  }
  int delivered = 0;

 private:
  Transmitter& out_;
  int times_;
};

}  // namespace

TEST_CASE("a frame for an address of the process goes there, all others to the next link") {
  MemoryLink wire_a, wire_b;
  InprocLink a(kA, &wire_a, nothing), b(kB, &wire_b, nothing);
  CHECK(a.fixed_source_port() == 4791);
  send_now(a, frame_to(kB, 1));
  send_now(a, frame_to(kFar, 2));
  send_now(a, frame_to(kA, 3));
  send_now(a, Frame{1, 2, 3});
  a.flush();
  REQUIRE(wire_a.sent.size() == 2);
  CHECK(wire_a.sent[0] == frame_to(kFar, 2));
  CHECK(a.counters().sent == 2);

  Collector at_a, at_b;
  wire_b.arriving = {frame_to(kB, 7)};
  CHECK(b.receive(at_b, 10) == 2);
  CHECK(at_b.frames == std::vector<Frame>{frame_to(kB, 1), frame_to(kB, 7)});
  CHECK(a.receive(at_a, 10) == 1);
  CHECK(at_a.frames == std::vector<Frame>{frame_to(kA, 3)});
}

TEST_CASE("a frame without its ICRC stays so within the process, and gets its ICRC for other links and groups") {
  MemoryLink wire_a;
  InprocLink a(kA, &wire_a, nothing), b(kB, nullptr, nothing);
  wire::Gid group = ipv4_gid(239, 1, 2, 3);
  b.join(group);
  send_unsealed(a, unsealed(frame_to(kB, 1)));
  send_unsealed(a, unsealed(frame_to(kFar, 2)));
  send_unsealed(a, unsealed(frame_to(group, 3)));
  a.flush();
  CHECK(wire_a.sent == std::vector<Frame>{frame_to(kFar, 2), frame_to(group, 3)});
  FormCollector at_b;
  CHECK(b.receive(at_b, 10) == 2);
  CHECK(at_b.unsealed == std::vector<Frame>{unsealed(frame_to(kB, 1))});
  CHECK(at_b.sealed == std::vector<Frame>{frame_to(group, 3)});
}

TEST_CASE("the network brings a frame to a group back, and each address of the port drops its copy") {
  MemoryLink wire_a, wire_b;
  InprocLink a(kA, &wire_a, nothing), b(kB, &wire_b, nothing);
  const wire::Gid group = ipv4_gid(239, 1, 2, 3);
  a.join(group);
  b.join(group, false);
  const Frame frame = frame_to(group, 1);
  send(a, frame);
  a.flush();
  wire_a.arriving = {frame};
  wire_b.arriving = {frame, frame_to(kB, 2)};
  Collector at_a, at_b;
  a.receive(at_a, 10);
  b.receive(at_b, 10);
  CHECK(at_a.frames == std::vector<Frame>{frame});
  CHECK(at_b.frames == std::vector<Frame>{frame_to(kB, 2)});
}

TEST_CASE("frames leave by the flush, in their order, also when their addresses alternate") {
  MemoryLink wire_a;
  for (Link* next : {static_cast<Link*>(nullptr), static_cast<Link*>(&wire_a)}) {
    InprocLink a(kA, next, nothing), b(kB, nullptr, nothing);
    Collector at_a, at_b;
    for (std::uint32_t i = 0; i < 3; ++i) send(a, frame_to(kB, i));
    CHECK(b.receive(at_b, 10) == 0);
    for (std::uint32_t i = 3; i < 100; ++i) {
      send(a, frame_to(kB, i));
      if (i % 5 == 0) send(a, frame_to(kA, i));
    }
    a.flush();
    CHECK(b.receive(at_b, 1000) == 100);
    CHECK(a.receive(at_a, 1000) == 19);
    for (std::uint32_t i = 0; i < 100; ++i) CHECK(at_b.frames[i] == frame_to(kB, i));
    for (std::uint32_t i = 0; i < 19; ++i) CHECK(at_a.frames[i] == frame_to(kA, 5 * (i + 1)));
    CHECK(a.counters().sent == 119);
  }
}

TEST_CASE("without a next link other addresses are unreachable") {
  InprocLink a(kA, nullptr, nothing);
  CHECK(a.fixed_source_port() == 0);
  CHECK(a.wait_fd() == -1);
  CHECK(a.next_deadline() == INT64_MAX);
  send_now(a, frame_to(kB, 1));
  a.flush();
  CHECK(a.counters().unreachable == 1);
  // An address that comes later is found, one that went is not.
  {
    InprocLink b(kB, nullptr, nothing);
    send_now(a, frame_to(kB, 2));
    CHECK(a.counters().sent == 1);
  }
  send_now(a, frame_to(kB, 3));
  CHECK(a.counters().unreachable == 2);
}

TEST_CASE("only the first frame notifies") {
  int notifications = 0;
  InprocLink a(kA, nullptr, nothing), b(kB, nullptr, [&] { ++notifications; });
  Collector collector;
  for (std::uint32_t i = 0; i < 3; ++i) send_now(a, frame_to(kB, i));
  CHECK(notifications == 1);
  CHECK(b.receive(collector, 2) == 2);
  send_now(a, frame_to(kB, 3));
  CHECK(notifications == 1);
  CHECK(b.receive(collector, 10) == 2);
  send_now(a, frame_to(kB, 4));
  CHECK(notifications == 2);
}

TEST_CASE("frames that a full queue does not take wait in their order, and the sender is told when there is room") {
  constexpr std::uint32_t kCapacity = FrameQueue::kCapacity, kMore = 40;
  int notifications = 0;
  InprocLink a(kA, nullptr, [&] { ++notifications; }), b(kB, nullptr, nothing);
  for (int round = 1; round <= 3; ++round) {
    for (std::uint32_t i = 0; i < kCapacity; ++i) send_now(a, frame_to(kB, i));
    CHECK_FALSE(a.congested(kB, 17));
    for (std::uint32_t i = kCapacity; i < kCapacity + kMore; ++i) send_now(a, frame_to(kB, i));
    CHECK(a.congested(kB, 17));
    Collector collector;
    CHECK(b.receive(collector, 300) == 300);
    CHECK(notifications == round - 1);  // most of the queue is full still
    CHECK(b.receive(collector, 300) == 300);
    CHECK(notifications == round);
    CHECK_FALSE(a.congested(kB, 17));
    CHECK(b.receive(collector, 2 * kCapacity) == kCapacity + kMore - 600);
    REQUIRE(collector.frames.size() == kCapacity + kMore);
    for (std::uint32_t i = 0; i < kCapacity + kMore; ++i) CHECK(number_of(collector.frames[i]) == i);
  }
  CHECK(a.counters().overflow == 0);
}

TEST_CASE("two links that flood each other, and one that floods itself, lose nothing") {
  constexpr std::uint32_t kCount = 3 * FrameQueue::kCapacity;
  for (const bool itself : {false, true}) {
    CAPTURE(itself);
    InprocLink a(kA, nullptr, nothing), b(kB, nullptr, nothing);
    Collector at_a, at_b;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      send_now(a, frame_to(itself ? kA : kB, i));
      send_now(b, frame_to(itself ? kB : kA, i));
    }
    CHECK(a.congested(kB, 17));
    CHECK(b.congested(kA, 17));
    while (a.receive(at_a, 32) + b.receive(at_b, 32) > 0) {
      a.flush();
      b.flush();
    }
    REQUIRE(at_a.frames.size() == kCount);
    REQUIRE(at_b.frames.size() == kCount);
    CHECK(number_of(at_b.frames.back()) == kCount - 1);
    CHECK(a.counters().overflow + b.counters().overflow == 0);
  }
}

TEST_CASE("a congested sender is freed when the receiver goes") {
  int notifications = 0;
  InprocLink a(kA, nullptr, [&] { ++notifications; });
  const std::uint64_t relieved = a.relieve();
  {
    InprocLink b(kB, nullptr, nothing);
    for (std::uint32_t i = 0; i < FrameQueue::kCapacity + 5; ++i) send_now(a, frame_to(kB, i));
    CHECK(a.congested(kB, 17));
  }
  CHECK(notifications == 1);
  CHECK(a.relieve() > relieved);
  CHECK_FALSE(a.congested(kB, 17));
  CHECK(a.counters().overflow == 5);
}

TEST_CASE("what waits for room is bounded, whoever sends without a look") {
  InprocLink a(kA, nullptr, nothing), b(kB, nullptr, nothing);
  for (std::uint32_t i = 0; i < 10'000; ++i) send_now(a, frame_to(kB, i));
  CHECK(a.counters().overflow == 10'000 - FrameQueue::kCapacity - 4096);
}

TEST_CASE("a sender to a group waits, too, while the queue of a member is full") {
  constexpr std::uint32_t kCapacity = FrameQueue::kCapacity, kMore = 5, kGroupNumber = 0xffffff;
  const wire::Gid group = ipv4_gid(239, 1, 2, 3);
  InprocLink a(kA, nullptr, nothing), b(kB, nullptr, nothing);
  b.join(group);
  for (std::uint32_t i = 0; i < kCapacity; ++i) send_now(a, frame_to(group, i));
  CHECK_FALSE(a.congested(group, kGroupNumber));
  for (std::uint32_t i = 0; i < kMore; ++i) send_now(a, frame_to(group, kCapacity + i));
  CHECK(a.congested(group, kGroupNumber));
  Collector collector;
  CHECK(b.receive(collector, kCapacity) == kCapacity);
  CHECK_FALSE(a.congested(group, kGroupNumber));
  CHECK(b.receive(collector, kCapacity) == kMore);
  CHECK(a.counters().overflow == 0);
}

TEST_CASE("a receiver may send to itself") {
  InprocLink a(kA, nullptr, nothing);
  Echo echo(a, 100);
  send_now(a, frame_to(kA, 1));
  CHECK(a.receive(echo, 40) == 40);
  CHECK(a.receive(echo, 1000) == 61);
  CHECK(echo.delivered == 101);
}

TEST_CASE("an address has one link, which a second one does not affect") {
  InprocLink a(kA, nullptr, nothing), b(kB, nullptr, nothing);
  {
    InprocLink thief(kB, nullptr, nothing);
  }
  send_now(a, frame_to(kB, 1));
  Collector collector;
  CHECK(b.receive(collector, 10) == 1);
}

TEST_CASE("an address is free when its link has ended without memory" * doctest::skip(!kAllocationsCanFail)) {
  MemoryLink wire_a, wire_b;
  InprocLink b(kB, &wire_b, nothing);
  std::optional<InprocLink> a(std::in_place, kA, &wire_a, nothing);
  Collector at_a;
  const auto send_to_a = [&] { send_now(b, frame_to(kA, 1)); };
  fail_allocations_from(1);
  a.reset();
  fail_allocation(0);
  // Another process may have the address.
  send_to_a();
  CHECK(wire_b.sent.size() == 1);
  a.emplace(kA, &wire_a, nothing);
  send_to_a();
  CHECK(a->receive(at_a, 2) == 1);
  // So is it when a link does not get all the memory that it needs.
  a.reset();
  for (int nth = 1;; ++nth) {
    fail_allocations_from(nth);
    try {
      a.emplace(kA, &wire_a, nothing);
    } catch (const std::bad_alloc&) {
      fail_allocation(0);
      continue;
    }
    fail_allocation(0);
    break;
  }
  send_to_a();
  CHECK(a->receive(at_a, 2) == 1);
  CHECK(wire_b.sent.size() == 1);
}

TEST_CASE("two threads exchange frames in order") {
  constexpr std::uint32_t kCount = 20000;
  InprocLink a(kA, nullptr, nothing), b(kB, nullptr, nothing);
  std::thread sender([&] {
    for (std::uint32_t i = 0; i < kCount; ++i) {
      send(a, frame_to(kB, i));
      if (i % 50 == 7) a.flush();  // before and behind a whole batch
      while (a.congested(kB, 17)) std::this_thread::yield();
    }
    a.flush();
    while (a.congested(kB, 17)) std::this_thread::yield();  // what found the queue full
  });
  std::uint32_t next = 0, wrong = 0;
  while (next < kCount) {
    Collector collector;
    b.receive(collector, 64);
    for (const Frame& frame : collector.frames) wrong += number_of(frame) != next++;
  }
  sender.join();
  CHECK(wrong == 0);
}

TEST_CASE("an address may leave while others send to it") {
  InprocLink a(kA, nullptr, nothing);
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> sent{0};
  std::thread sender([&] {
    while (!stop) {
      send_now(a, frame_to(kB, ++sent));
    }
  });
  int rings_after_close = 0;
  for (int round = 0; round < 50; ++round) {
    auto alive = std::make_unique<bool>(true);
    {
      InprocLink b(kB, nullptr, [&] { rings_after_close += *alive ? 0 : 1; });
      Collector collector;
      while (collector.frames.empty()) b.receive(collector, 8);
    }
    *alive = false;
  }
  stop = true;
  sender.join();
  CHECK(rings_after_close == 0);
  CHECK(a.counters().sent >= 50);
}

TEST_CASE("a forked child does not deliver into copies of its parent's queues") {
  MemoryLink out;
  InprocLink a(kA, &out, nothing);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    MemoryLink child_out;
    InprocLink b(kB, &child_out, nothing);
    send_now(b, frame_to(kA, 1));
    b.flush();
    _exit(child_out.sent.size() == 1 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
