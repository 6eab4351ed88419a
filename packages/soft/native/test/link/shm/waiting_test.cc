#include <doctest/doctest.h>

#include "link/shm/outgoing.h"
#include "test/link/shm/shm_end.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

TEST_CASE("frames that wait for room keep their form") {
  End a, b;
  const std::size_t full = fill(a, b);
  send_unsealed(*a.link, unsealed(a.frame_to(b.address, 7)));
  a.link->flush();
  FormCollector collector;
  while (b.link->prepare_sleep(), b.link->receive(collector, 64) != 0) a.link->relieve();
  CHECK(collector.sealed.size() == full);
  CHECK(collector.unsealed == std::vector<Frame>{unsealed(a.frame_to(b.address, 7))});
}

TEST_CASE("a peer without room holds only what is for it, and loses nothing") {
  End a, slow, other;
  const std::uint64_t relieved = a.link->relieve();
  const std::size_t count = fill(a, slow);
  CHECK(a.link->congested(slow.address, 17));
  CHECK_FALSE(a.link->congested(other.address, 17));
  CHECK(a.link->next_deadline() == virtual_time + Outgoing::kPatience);
  a.send_to(other, 7);
  a.link->flush();
  CHECK(other.receive().size() == 1);
  CHECK(a.link->relieve() == relieved);

  CHECK_FALSE(a.is_readable());
  std::size_t received = slow.receive().size();
  CHECK(a.is_readable());  // the bell for the room
  a.receive();
  CHECK(a.link->relieve() > relieved);
  CHECK_FALSE(a.link->congested(slow.address, 17));
  CHECK(a.link->next_deadline() == INT64_MAX);
  received += slow.receive().size();
  CHECK(received == count);
  CHECK(a.link->counters().dropped == 0);
}

TEST_CASE("frames for a peer that reads nothing are dropped after a while, until it reads again") {
  End a, stopped;
  fill(a, stopped);
  const std::uint64_t relieved = a.link->relieve();
  virtual_time += Outgoing::kPatience;
  CHECK(a.link->relieve() > relieved);
  CHECK_FALSE(a.link->congested(stopped.address, 17));
  const std::uint64_t dropped = a.link->counters().dropped;
  CHECK(dropped > 0);
  a.send_to(stopped, 1, 4096);
  a.link->flush();
  CHECK(a.link->counters().dropped == dropped + 1);
  CHECK_FALSE(a.link->congested(stopped.address, 17));

  stopped.receive();
  a.send_to(stopped, 77);
  a.link->flush();
  const std::vector<Frame> frames = stopped.receive();
  REQUIRE(frames.size() == 1);
  CHECK(number_of(frames[0]) == 77);
  fill(a, stopped);  // it is patient again
  CHECK(a.link->congested(stopped.address, 17));
}

TEST_CASE("what waits for a peer that goes is dropped") {
  End a;
  {
    End b;
    fill(a, b);
  }
  a.receive();
  CHECK(a.link->next_deadline() == INT64_MAX);
  CHECK(a.link->counters().dropped > 0);
}
