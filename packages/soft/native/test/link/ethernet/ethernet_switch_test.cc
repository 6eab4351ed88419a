#include "link/ethernet/ethernet_switch.h"

#include <doctest/doctest.h>

#include <random>
#include <thread>

using namespace verbs::soft::link;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr Mac kMacA{2, 0, 0, 0, 0, 1}, kMacB{2, 0, 0, 0, 0, 2}, kGuest{2, 9, 9, 9, 9, 9};

Bytes frame(const Mac& to, const Mac& from, std::size_t size = 60) {
  Bytes bytes(to.begin(), to.end());
  bytes.insert(bytes.end(), from.begin(), from.end());
  bytes.resize(std::max<std::size_t>(size, 12), 0x5a);
  return bytes;
}

struct Port final : Receiver {
  Port(const std::shared_ptr<EthernetSwitch>& to, const Mac* own, bool teaches = true)
      : link(to, own, [this] { ++notifications; }, teaches) {}
  void deliver(std::span<const std::uint8_t> bytes) override { got.emplace_back(bytes.begin(), bytes.end()); }
  std::size_t take() {
    got.clear();
    return link.receive(*this, 4096);
  }

  int notifications = 0;
  SwitchLink link;
  std::vector<Bytes> got;
};

}  // namespace

TEST_CASE("a switch floods frames to unknown addresses, and learns") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port a(joined, &kMacA), b(joined, &kMacB), tap(joined, nullptr);
  a.link.send(frame(kMacB, kMacA));
  CHECK(a.take() == 0);
  CHECK(b.take() == 1);
  CHECK(b.got[0] == frame(kMacB, kMacA));
  CHECK(tap.take() == 0);
  a.link.send(frame(kGuest, kMacA));
  CHECK(b.take() == 1);
  CHECK(tap.take() == 1);
  tap.link.send(frame(kMacA, kGuest));
  CHECK(a.take() == 1);
  a.link.send(frame(kGuest, kMacA));
  CHECK(b.take() == 0);
  CHECK(tap.take() == 1);
  // A port's own address is not learned at another port.
  tap.link.send(frame(kMacA, kMacB));
  a.take();
  a.link.send(frame(kMacB, kMacA));
  CHECK(b.take() == 1);
  CHECK(tap.take() == 0);
  CHECK(b.notifications == 3);  // each time the queue was empty
}

TEST_CASE("a port that is unplugged sends and receives nothing, and forgets what waited") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port a(joined, &kMacA), b(joined, &kMacB), tap(joined, nullptr);
  a.link.send(frame(kMacB, kMacA));
  b.link.unplug();
  b.link.unplug();
  CHECK(b.take() == 0);
  a.link.send(frame(kMacB, kMacA));  // an unknown address now
  CHECK(tap.take() == 1);
  b.link.send(frame(kMacA, kMacB));
  CHECK(a.take() == 0);
  CHECK(b.link.counters().sent == 0);
  b.link.plug();
  b.link.plug();
  CHECK(b.take() == 0);
  a.link.send(frame(kMacB, kMacA));
  CHECK(b.take() == 1);
  CHECK(tap.take() == 0);
  b.link.send(frame(kMacA, kMacB));
  CHECK(a.take() == 1);
}

TEST_CASE("a port that does not teach replays both sides of a conversation") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port player(joined, &kMacA, false), listener(joined, &kMacB);
  constexpr Mac kOne{2, 9, 9, 9, 9, 1}, kTwo{2, 9, 9, 9, 9, 2};
  player.link.send(frame(kOne, kTwo));
  player.link.send(frame(kTwo, kOne));
  CHECK(listener.take() == 2);
  CHECK(player.link.counters().filtered == 0);
  // What others teach holds for it, too.
  listener.link.send(frame(kMacA, kOne));
  player.take();
  Port third(joined, nullptr);
  player.link.send(frame(kOne, kTwo));
  CHECK(listener.take() == 1);
  CHECK(third.take() == 0);
}

TEST_CASE("a group's frame comes back to its own port, and only that") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port a(joined, &kMacA), b(joined, &kMacB);
  constexpr Mac kGroupAddress{0x33, 0x33, 0, 0, 0, 1};
  a.link.send(frame(kGroupAddress, kMacA));
  CHECK(a.take() == 1);
  CHECK(b.take() == 1);
  CHECK(a.link.counters().sent == 2);
  a.link.send(frame(kMacA, kMacA));
  CHECK(a.take() == 0);
  CHECK(a.link.counters().filtered == 1);
  // A group address is not learned.
  b.link.send(frame(kMacA, kGroupAddress));
  CHECK(a.take() == 1);
}

TEST_CASE("the addresses of a port that leaves are forgotten") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port a(joined, &kMacA);
  {
    Port tap(joined, nullptr);
    tap.link.send(frame(kMacA, kGuest));
    CHECK(a.take() == 1);
  }
  Port other(joined, nullptr);
  a.link.send(frame(kGuest, kMacA));
  CHECK(other.take() == 1);
}

TEST_CASE("a full queue loses frames and counts them; too short ones go nowhere") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port a(joined, &kMacA), b(joined, &kMacB);
  for (std::size_t i = 0; i < FrameQueue::kCapacity + 10; ++i) a.link.send(frame(kMacB, kMacA));
  CHECK(a.link.counters().sent == FrameQueue::kCapacity);
  CHECK(a.link.counters().overflow == 10);
  CHECK(b.take() == FrameQueue::kCapacity);
  a.link.send(Bytes(13, 0xff));
  a.link.send({});
  CHECK(b.take() == 0);
}

TEST_CASE("a sender of ever new addresses makes the switch forget, nothing else") {
  const auto joined = std::make_shared<EthernetSwitch>();
  Port a(joined, &kMacA), b(joined, &kMacB), tap(joined, nullptr);
  std::mt19937_64 random(7);
  for (int i = 0; i < 50'000; ++i) {
    Mac source;
    for (std::uint8_t& byte : source) byte = static_cast<std::uint8_t>(random());
    tap.link.send(frame(kMacA, source, 14));
    if (i % 512 == 0) a.take();
  }
  a.take();
  CHECK(b.take() == 0);
  b.link.send(frame(kMacA, kMacB));
  CHECK(a.take() == 1);
  a.link.send(frame(kMacB, kMacA));
  CHECK(b.take() == 1);
}

TEST_CASE("switches have names") {
  CHECK(EthernetSwitch::named("x") == EthernetSwitch::named("x"));
  const auto left = EthernetSwitch::named("left"), right = EthernetSwitch::named("right");
  Port a(left, &kMacA), b(right, &kMacB);
  a.link.send(frame(kMacB, kMacA));
  CHECK(b.take() == 0);
}

TEST_CASE("ports of different threads") {
  const auto joined = std::make_shared<EthernetSwitch>();
  constexpr int kFrames = 2000;
  const auto talk = [&](std::uint8_t number) {
    const Mac own{2, 0, 0, 0, 1, number}, peer{2, 0, 0, 0, 1, static_cast<std::uint8_t>(number ^ 1)};
    Port port(joined, &own);
    for (int i = 0; i < kFrames; ++i) {
      port.link.send(frame(i % 7 == 0 ? Mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} : peer, own));
      port.take();
    }
  };
  std::vector<std::thread> threads;
  for (std::uint8_t number = 0; number < 4; ++number) threads.emplace_back(talk, number);
  for (std::thread& thread : threads) thread.join();
}
