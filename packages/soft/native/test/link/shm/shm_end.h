// An end of a shared-memory link, in front of a link in memory, with a clock that the test turns. Only meeting a peer
// takes real time: a thread of the process serves its door.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "link/shm/shm_link.h"
#include "test/link/support/memory_link.h"
#include "wire/headers.h"

namespace verbs::soft::link::test {

inline Nanos virtual_time = 1'000'000'000;
inline Nanos virtual_clock() { return virtual_time; }

// The names of the sockets are those of the network namespace, which other runs of this test may share.
inline wire::Gid new_address() {
  static std::uint8_t count = 0;
  wire::Gid gid;
  gid.bytes[0] = 0xfd;
  const auto process = static_cast<std::uint32_t>(getpid());
  std::memcpy(&gid.bytes[8], &process, sizeof process);
  gid.bytes[15] = ++count;
  return gid;
}

struct End {
  explicit End(const wire::Gid& own = new_address()) : address(own) {
    REQUIRE(ShmLink::open(address, next, virtual_clock, &link) == 0);
  }

  Frame frame_to(const wire::Gid& to, std::uint32_t number, std::size_t payload = 32) const {
    wire::Path path;
    path.sgid = address;
    path.dgid = to;
    path.source_port = wire::kRocePort;
    return sealed_frame(path, number, payload);
  }
  // Once they have met, which they do first.
  void send_to(End& other, std::uint32_t number, std::size_t payload = 32) {
    meet(other);
    send(*link, frame_to(other.address, number, payload));
  }
  bool has_met(const End& other) const { return link->takes_references(address, other.address, 17); }
  void meet(End& other) {
    for (int i = 0; !has_met(other) && i < 50'000; ++i) {
      look();
      other.look();
      usleep(100);
    }
    CHECK(has_met(other));
  }
  // Receives until nothing comes any more.
  std::vector<Frame> receive() {
    look();
    return std::exchange(received, {});
  }
  void look() {
    Collector collector;
    while (link->prepare_sleep(), link->receive(collector, 64) != 0) {
    }
    received.insert(received.end(), collector.frames.begin(), collector.frames.end());
  }
  bool is_readable() const {
    pollfd entry{link->wait_fd(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
  }

  wire::Gid address;
  MemoryLink next;
  std::unique_ptr<ShmLink> link;
  std::vector<Frame> received;  // that nobody has asked for
};

// A connection to the peer with its invitation; -1: it did not come.
inline int invited_to(const wire::Gid& address) {
  int fd = -1;
  REQUIRE(connect_to_peer(address, kAnyRange, &fd) == 0);
  pollfd entry{fd, POLLIN, 0};
  if (poll(&entry, 1, 5000) == 1 && receive_invitation(fd) == 0) return fd;
  close(fd);
  return -1;
}

// Until `condition` holds, or for 5 seconds.
template <typename Condition>
bool eventually(Condition&& condition) {
  for (int i = 0; i < 50'000; ++i) {
    if (condition()) return true;
    usleep(100);
  }
  return false;
}

inline std::size_t fill(End& from, End& to) {
  from.meet(to);
  std::size_t count = 0;
  for (; !from.link->congested(to.address, 17); ++count) from.send_to(to, static_cast<std::uint32_t>(count), 4096);
  from.link->flush();
  return count;
}

}  // namespace verbs::soft::link::test
