#include "link/udp/udp_link.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "test/abi/support/failing_new.h"
#include "test/link/support/memory_link.h"
#include "verbs_soft_boundary.h"
#include "wire/icrc.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
using namespace verbs::soft::test;
using verbs::soft::contain;
namespace wire = verbs::soft::wire;

namespace {

// Not 4791, so that a device in use on this machine is not disturbed, and chosen by the kernel, so that two runs are
// not in each other's way.
std::uint16_t free_port(bool ipv6) {
  const int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  sockaddr_storage storage = {};
  storage.ss_family = ipv6 ? AF_INET6 : AF_INET;
  socklen_t length = sizeof storage;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&storage), ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in)) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) == 0);
  close(fd);
  return ntohs(ipv6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                    : reinterpret_cast<sockaddr_in&>(storage).sin_port);
}

wire::Gid ipv6_loopback() {
  wire::Gid gid;
  gid.bytes[15] = 1;
  return gid;
}

std::unique_ptr<UdpLink> open_link(const wire::Gid& address, std::uint16_t port) {
  std::unique_ptr<UdpLink> link;
  REQUIRE(UdpLink::open(address, {.port = port}, &link) == 0);
  return link;
}

void receive_all(UdpLink& link, Collector& collector, std::size_t count) {
  while (collector.frames.size() < count) {
    pollfd entry{link.wait_fd(), POLLIN, 0};
    REQUIRE(poll(&entry, 1, 10'000) == 1);
    link.receive(collector, count - collector.frames.size());
  }
}

wire::Path path_of(const Link& from, const wire::Gid& sgid, const wire::Gid& dgid) {
  wire::Path path;
  path.sgid = sgid;
  path.dgid = dgid;
  path.source_port = from.fixed_source_port();
  return path;
}

}  // namespace

TEST_CASE("frames arrive as they were sealed, IPv4") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2);
  const auto from = open_link(a, port), to = open_link(b, port);
  CHECK(from->fixed_source_port() == port);
  wire::Path path = path_of(*from, a, b);
  std::vector<Frame> frames;
  for (const std::size_t payload : {4, 64, 1024, 4096}) {
    frames.push_back(sealed_frame(path, static_cast<std::uint32_t>(payload), payload));
  }
  path.traffic_class = 0x68;
  frames.push_back(sealed_frame(path, 1, 64));
  path.hop_limit = 7;
  frames.push_back(sealed_frame(path, 2, 64));
  path.traffic_class = 0;
  frames.push_back(sealed_frame(path, 3, 64));
  path.hop_limit = 64;
  frames.push_back(sealed_frame(path, 4, 64));

  for (const Frame& frame : frames) send(*from, frame);
  from->flush();
  Collector collector;
  receive_all(*to, collector, frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    CAPTURE(i);
    CHECK(collector.frames[i] == frames[i]);
    CHECK(wire::check_icrc(collector.frames[i]));
  }
  CHECK(from->counters().sent == frames.size());
  CHECK(from->counters().send_dropped == 0);
  CHECK(to->counters().received == frames.size());
}

TEST_CASE("frames arrive as they were sealed, IPv6") {
  const std::uint16_t port = free_port(true);
  const wire::Gid address = ipv6_loopback();
  const auto link = open_link(address, port);
  wire::Path path = path_of(*link, address, address);
  std::vector<Frame> frames = {sealed_frame(path, 1, 64), sealed_frame(path, 2, 4096)};
  path.traffic_class = 0x20;
  path.hop_limit = 3;
  frames.push_back(sealed_frame(path, 3, 64));
  for (const std::uint32_t label : {0x12345u, 0xfffffu, 0u}) {
    path.flow_label = label;
    frames.push_back(sealed_frame(path, 4, 64));
  }
  for (const Frame& frame : frames) send(*link, frame);
  link->flush();
  Collector collector;
  receive_all(*link, collector, frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) CHECK(collector.frames[i] == frames[i]);
}

TEST_CASE("a full batch leaves by itself and a budget is kept") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2);
  const auto from = open_link(a, port), to = open_link(b, port);
  const wire::Path path = path_of(*from, a, b);
  constexpr std::uint32_t kCount = 200;
  for (std::uint32_t i = 0; i < kCount; ++i) send(*from, sealed_frame(path, i, 16));
  CHECK(from->counters().sent >= 128);
  from->flush();
  from->flush();
  CHECK(from->counters().sent == kCount);
  Collector collector;
  CHECK(to->receive(collector, 0) == 0);
  // Loopback delivers within the send call, so that all frames wait. A datagram is received as a whole.
  std::size_t taken = to->receive(collector, 2);
  CHECK(taken >= 2);
  CHECK(taken <= 32);
  taken += to->receive(collector, 1000);
  CHECK(taken == kCount);
  CHECK(to->receive(collector, 1000) == 0);
  REQUIRE(collector.frames.size() == kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) CHECK(number_of(collector.frames[i]) == i);
}

TEST_CASE("consecutive frames to one peer are one datagram and arrive as single frames") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2), c = ipv4_gid(127, 0, 0, 3);
  const auto from = open_link(a, port), to = open_link(b, port);
  // The kernel's own view of a peer that does not know of it.
  const int plain = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  REQUIRE(plain >= 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.3", &address.sin_addr);
  REQUIRE(bind(plain, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  wire::Path path = path_of(*from, a, b);
  std::vector<Frame> frames;
  // Equal ones, shorter ones at the end of a row, longer ones, other fields of the IP header, one that is alone.
  for (const std::size_t payload : {64, 64, 64, 20, 64, 16, 16, 4096, 4096, 4, 1024}) {
    frames.push_back(sealed_frame(path, static_cast<std::uint32_t>(frames.size()), payload));
  }
  path.traffic_class = 0x68;
  for (const std::size_t payload : {64, 64}) frames.push_back(sealed_frame(path, 100, payload));
  path.traffic_class = 0;
  frames.push_back(sealed_frame(path, 101, 64));
  const std::vector<Frame> others(3, sealed_frame(path_of(*from, a, c), 7, 64));
  for (const Frame& frame : frames) send(*from, frame);
  for (const Frame& frame : others) send(*from, frame);
  from->flush();
  CHECK(from->counters().sent == frames.size() + others.size());

  Collector collector;
  CHECK(to->receive(collector, 100) == frames.size());
  CHECK(to->counters().received == frames.size());
  REQUIRE(collector.frames.size() == frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    CAPTURE(i);
    CHECK(collector.frames[i] == frames[i]);
  }
  char bytes[200];
  for (const Frame& frame : others) {
    CHECK(recv(plain, bytes, sizeof bytes, 0) == static_cast<ssize_t>(frame.size() - wire::network_size(path)));
  }
  close(plain);
}

TEST_CASE("a frame and a shorter one behind it wake a peer once") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2);
  const auto from = open_link(a, port), to = open_link(b, port);
  const wire::Path path = path_of(*from, a, b);
  send(*from, sealed_frame(path, 1, 64));
  send(*from, sealed_frame(path, 2, 4));
  from->flush();
  // One datagram: both frames are received together.
  Collector collector;
  CHECK(to->receive(collector, 1) == 2);
}

TEST_CASE("the first link that opens an address claims it") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1);
  auto first = open_link(a, port);
  std::unique_ptr<UdpLink> second;
  CHECK(UdpLink::open(a, {.port = port}, &second) == EADDRINUSE);
  CHECK(second == nullptr);
  first.reset();
  CHECK(UdpLink::open(a, {.port = port}, &second) == 0);
}

TEST_CASE("an address of another machine cannot be opened") {
  std::unique_ptr<UdpLink> link;
  CHECK(UdpLink::open(ipv4_gid(192, 0, 2, 1), {.port = free_port(false)}, &link) == EADDRNOTAVAIL);
}

TEST_CASE("without memory no group is joined, and no socket is left of it") {
  if (!kAllocationsCanFail) return;
  const auto link = open_link(ipv4_gid(127, 0, 0, 1), free_port(false));
  const wire::Gid group = ipv4_gid(239, 1, 2, 3);
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  fail_allocation(1);
  const int error = contain([&] { return link->join(group); }, [](int failed) { return failed; });
  fail_allocation(0);
  CHECK(error == ENOMEM);
  CHECK(descriptors() == before);
  CHECK(link->join(group) == 0);
  CHECK(descriptors() == before + 1);
}

TEST_CASE("a route is asked of the kernel") {
  const wire::Gid loopback = ipv4_gid(127, 0, 0, 1);
  const auto link = open_link(loopback, free_port(false));
  std::uint32_t mtu = 0;
  CHECK(link->route(loopback, ipv4_gid(127, 0, 0, 9), &mtu) == 0);
  CHECK(mtu >= 1280);
  CHECK(link->route(loopback, ipv4_gid(203, 0, 113, 9), &mtu) == ENETUNREACH);
  const auto v6 = open_link(ipv6_loopback(), free_port(true));
  CHECK(v6->route(ipv6_loopback(), ipv6_loopback(), &mtu) == 0);
}

TEST_CASE("a peer that is not there costs the frame, nothing else") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2), nobody = ipv4_gid(127, 0, 0, 3);
  const auto from = open_link(a, port), to = open_link(b, port);
  Collector collector;
  for (std::uint32_t i = 0; i < 20; ++i) {
    send(*from, sealed_frame(path_of(*from, a, nobody), i, 16));
    from->flush();
    CHECK(from->receive(collector, 8) == 0);
    send(*from, sealed_frame(path_of(*from, a, b), i, 16));
    from->flush();
  }
  CHECK(to->receive(collector, 100) == 20);
}

TEST_CASE("a frame that the socket cannot send is dropped, its neighbours are sent") {
  const std::uint16_t port = free_port(false);
  const wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2);
  const auto from = open_link(a, port), to = open_link(b, port);
  const wire::Path path = path_of(*from, a, b);
  send(*from, sealed_frame(path, 1, 16));
  wire::Path other_family = path;
  other_family.dgid = ipv6_loopback();
  send(*from, sealed_frame(other_family, 2, 16));
  send(*from, Frame{0x45, 0, 0});
  send(*from, Frame(60, 0));
  send(*from, sealed_frame(path, 3, 16));
  from->flush();
  CHECK(from->counters().sent == 2);
  CHECK(from->counters().send_dropped == 3);
  Collector collector;
  CHECK(to->receive(collector, 10) == 2);
  CHECK(number_of(collector.frames[0]) == 1);
  CHECK(number_of(collector.frames[1]) == 3);
}

TEST_CASE("datagrams of any length arrive or are counted") {
  const std::uint16_t port = free_port(false);
  const auto to = open_link(ipv4_gid(127, 0, 0, 2), port);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.3", &address.sin_addr);
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
  const std::vector<char> bytes(9000);
  for (const std::size_t size : {0, 1, 15, 4560, 4561, 9000}) {
    CHECK(sendto(fd, bytes.data(), size, 0, reinterpret_cast<sockaddr*>(&address), sizeof address) ==
          static_cast<ssize_t>(size));
  }
  close(fd);
  Collector collector;
  CHECK(to->receive(collector, 10) == 6);
  REQUIRE(collector.frames.size() == 4);
  CHECK(collector.frames[0].size() == 28);
  CHECK(collector.frames[3].size() == 28 + 4560);
  CHECK(to->counters().receive_dropped == 2);
}
