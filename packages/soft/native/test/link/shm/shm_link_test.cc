#include "link/shm/shm_link.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "test/link/shm/shm_end.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

TEST_CASE("frames to a process of this host go through memory, all others to the next link") {
  End a, b;
  a.send_to(b, 1);
  a.send_to(b, 2);
  send(*a.link, a.frame_to(new_address(), 3));
  wire::Gid group;
  group.bytes[0] = 0xff;
  send(*a.link, a.frame_to(group, 4));
  send(*a.link, Frame{1, 2, 3});
  a.link->flush();
  CHECK(a.next.sent.size() == 3);
  CHECK(a.link->counters().sent == 2);
  b.next.arriving = {b.frame_to(b.address, 9)};
  const std::vector<Frame> frames = b.receive();
  REQUIRE(frames.size() == 3);
  CHECK(frames[0] == a.frame_to(b.address, 1));
  CHECK(frames[1] == a.frame_to(b.address, 2));
  CHECK(b.link->counters().received == 2);
  // The other direction, and to itself.
  b.send_to(a, 5);
  a.send_to(a, 6);
  b.link->flush();
  a.link->flush();
  CHECK(a.receive().size() == 2);
}

// The peer's next link has them when the ring comes.
TEST_CASE("frames that a peer sent by the next link, before it met this end, come first") {
  End a, b;
  for (std::uint32_t number = 1; number <= 3; ++number) send(*a.link, a.frame_to(b.address, number));
  a.link->flush();
  CHECK(a.next.sent.size() == 3);
  REQUIRE(eventually([&] { return a.is_readable(); }));
  send(*a.link, a.frame_to(b.address, 4));  // not flushed when the response is looked at
  a.receive();
  CHECK(a.next.sent.size() == 4);
  send(*a.link, a.frame_to(b.address, 5));
  a.link->flush();
  REQUIRE(eventually([&] { return b.is_readable(); }));
  b.next.arriving = {a.next.sent.begin(), a.next.sent.end()};
  const std::vector<Frame> frames = b.receive();
  REQUIRE(frames.size() == 5);
  for (std::uint32_t i = 0; i < 5; ++i) CHECK(number_of(frames[i]) == i + 1);
  CHECK(b.link->counters().received == 1);
}

TEST_CASE("an IPv4 address works alike, and what a tunnel sends stays with the next link") {
  const auto process = static_cast<unsigned>(getpid());
  const auto low = static_cast<std::uint8_t>(process), high = static_cast<std::uint8_t>(process >> 8);
  End a(ipv4_gid(10, high, low, 1)), b(ipv4_gid(10, high, low, 2));
  a.send_to(b, 1);
  Frame other_port = a.frame_to(b.address, 2);
  other_port[wire::kIpv4Size + 3] ^= 1;
  send(*a.link, other_port);
  Frame other_protocol = a.frame_to(b.address, 3);
  other_protocol[9] = 47;
  send(*a.link, other_protocol);
  send(*a.link, b.frame_to(b.address, 4));  // another source
  a.link->flush();
  CHECK(a.next.sent.size() == 3);
  CHECK(b.receive() == std::vector<Frame>{a.frame_to(b.address, 1)});
}

TEST_CASE("a frame without its ICRC passes through memory as it is, and gets its ICRC for the next link") {
  End a, b;
  const wire::Gid far = new_address();
  a.meet(b);
  send_unsealed(*a.link, unsealed(a.frame_to(b.address, 1)));
  a.send_to(b, 2);
  send_unsealed(*a.link, unsealed(a.frame_to(far, 3)));
  a.link->flush();
  CHECK(a.next.sent == std::vector<Frame>{a.frame_to(far, 3)});
  FormCollector collector;
  while (b.link->prepare_sleep(), b.link->receive(collector, 64) != 0) {
  }
  CHECK(collector.unsealed == std::vector<Frame>{unsealed(a.frame_to(b.address, 1))});
  CHECK(collector.sealed == std::vector<Frame>{a.frame_to(b.address, 2)});
}

TEST_CASE("the socket is readable for a sleeper, and stays quiet for a thread that polls") {
  End a, b;
  a.link->congested(b.address, 17);
  CHECK_FALSE(a.has_met(b));
  CHECK(eventually([&] { return a.is_readable(); }));  // the peer's response
  a.receive();
  CHECK(eventually([&] { return b.is_readable(); }));  // a new peer
  b.receive();
  CHECK(a.has_met(b));
  CHECK_FALSE(b.is_readable());
  a.send_to(b, 2);
  a.link->flush();
  CHECK(b.is_readable());
  b.receive();
  CHECK_FALSE(b.is_readable());

  b.link->stay_awake();
  a.send_to(b, 3);
  a.link->flush();
  CHECK_FALSE(b.is_readable());
  Collector collector;
  CHECK(b.link->receive(collector, 10) == 1);
}

// Who gets fewer frames than the budget allows may sleep, and nobody rings for what was there before.
TEST_CASE("one call receives what many have sent, as far as its budget allows") {
  End a, b;
  a.send_to(b, 0);
  a.link->flush();
  CHECK(b.receive().size() == 1);
  for (std::uint32_t number = 1; number <= 20; ++number) {
    a.send_to(b, number);
    a.link->flush();
  }
  Collector collector;
  b.link->prepare_sleep();
  CHECK(b.link->receive(collector, 8) == 8);
  CHECK(b.link->receive(collector, 64) == 12);
  CHECK(b.link->receive(collector, 64) == 0);
}

TEST_CASE("frames of the next link are found soon after a long time without any") {
  End a, b;
  a.send_to(b, 1);
  a.link->flush();
  b.receive();
  b.link->stay_awake();
  Collector collector;
  Nanos step = 0;
  const auto call = [&] {
    virtual_time += step;
    b.link->receive(collector, 64);
  };
  SUBCASE("a thread that does nothing else") { step = 100; }
  SUBCASE("a thread that does something else meanwhile") { step = 10'000; }
  for (int i = 0; i < 1000; ++i) call();
  b.next.arriving = {b.frame_to(b.address, 2)};
  const Nanos start = virtual_time;
  int calls = 0;
  for (; collector.frames.empty() && calls < 2000; ++calls) call();
  CHECK(collector.frames.size() == 1);
  CHECK((calls <= 64 || virtual_time - start <= 100'000 + 64 * step));
  // The next ones are found at once.
  b.next.arriving = {b.frame_to(b.address, 3)};
  b.link->receive(collector, 64);
  CHECK(collector.frames.size() == 2);
}

TEST_CASE("many threads send to each other and sleep whenever nothing comes") {
  constexpr int kEnds = 4;
  constexpr std::uint32_t kCount = 4000;
  std::vector<std::unique_ptr<End>> ends;
  for (int i = 0; i < kEnds; ++i) ends.push_back(std::make_unique<End>());
  std::atomic<int> lost{0}, wrong{0};
  std::vector<std::thread> threads;
  for (const auto& from : ends) {
    for (const auto& to : ends) {
      if (from != to) from->meet(*to);
    }
  }
  for (int i = 0; i < kEnds; ++i) {
    threads.emplace_back([&, i] {
      End& own = *ends[static_cast<std::size_t>(i)];
      std::map<wire::Gid, std::uint32_t> expected;
      std::uint32_t sent = 0, received = 0;
      const auto congested = [&] {
        return std::any_of(ends.begin(), ends.end(),
                           [&](const auto& end) { return own.link->congested(end->address, 17); });
      };
      while (sent < kCount || received < kCount * (kEnds - 1)) {
        for (int burst = 0; sent < kCount && burst < 7 && !congested(); ++burst, ++sent) {
          for (const auto& to : ends) {
            if (to.get() != &own) own.send_to(*to, sent, 32 + sent % 4000);
          }
        }
        own.link->flush();
        Collector collector;
        own.link->prepare_sleep();
        own.link->receive(collector, 64);
        const std::uint64_t before = own.link->relieve();
        for (const Frame& frame : collector.frames) {
          wrong += number_of(frame) != expected[wire::source_of(frame)]++;
          ++received;
        }
        if (!collector.frames.empty() || (sent < kCount && !congested())) continue;
        if (received == kCount * (kEnds - 1) && before != own.link->relieve()) continue;
        if (received == kCount * (kEnds - 1) && sent == kCount) break;
        pollfd entry{own.link->wait_fd(), POLLIN, 0};
        if (poll(&entry, 1, 20'000) != 1) {
          ++lost;
          return;
        }
      }
      // The others may still wait for room in this end's rings, and this end's last frames for room in theirs.
      while (congested()) own.link->relieve();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(lost == 0);
  CHECK(wrong == 0);
}
