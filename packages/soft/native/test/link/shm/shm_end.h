// An end of a shared-memory link, in front of a link in memory, with a clock that the test turns.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <memory>
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
  void send_to(const End& other, std::uint32_t number, std::size_t payload = 32) {
    send(*link, frame_to(other.address, number, payload));
  }
  // Receives until nothing comes any more.
  std::vector<Frame> receive() {
    Collector collector;
    while (link->prepare_sleep(), link->receive(collector, 64) != 0) {
    }
    return collector.frames;
  }
  bool is_readable() const {
    pollfd entry{link->wait_fd(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
  }

  wire::Gid address;
  MemoryLink next;
  std::unique_ptr<ShmLink> link;
};

inline std::size_t fill(End& from, const End& to) {
  std::size_t count = 0;
  for (; !from.link->congested(to.address); ++count) from.send_to(to, static_cast<std::uint32_t>(count), 4096);
  from.link->flush();
  return count;
}

}  // namespace verbs::soft::link::test
