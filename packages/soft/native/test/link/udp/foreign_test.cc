// Peers that are no software NICs: other source ports, and IPv4 identifications that count.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "link/udp/host_addresses.h"
#include "link/udp/udp_link.h"
#include "test/link/support/memory_link.h"
#include "wire/bytes.h"
#include "wire/icrc.h"
#include "wire/identification.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

sockaddr_in socket_address(const wire::Gid& gid, std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  std::memcpy(&address.sin_addr, gid.ipv4(), 4);
  return address;
}

// Chosen by the kernel: two runs of the tests are not in each other's way.
std::uint16_t free_port(const wire::Gid& gid) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = socket_address(gid, 0);
  socklen_t length = sizeof address;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  close(fd);
  return ntohs(address.sin_port);
}

struct Scene {
  wire::Gid a = ipv4_gid(127, 0, 0, 1), b = ipv4_gid(127, 0, 0, 2);
  std::uint16_t port = free_port(a);
  std::unique_ptr<UdpLink> link;

  explicit Scene(std::uint8_t network_length) {
    auto foreign = std::make_shared<ForeignPeers>();
    if (network_length != 0) foreign->add({.address = b, .length = network_length});
    REQUIRE(UdpLink::open(a, {.port = port, .foreign = foreign}, &link) == 0);
  }
  wire::Path path(std::uint16_t source_port) const {
    wire::Path made;
    made.sgid = b;
    made.dgid = a;
    made.source_port = source_port;
    return made;
  }
  void receive(Collector& collector) const {
    pollfd entry{link->wait_fd(), POLLIN, 0};
    REQUIRE(poll(&entry, 1, 10'000) == 1);
    link->receive(collector, 100);
  }
};

}  // namespace

TEST_CASE("a datagram from another source port is taken from foreign peers only") {
  for (const std::uint8_t length : {0, 127, 128}) {
    CAPTURE(length);
    const Scene scene(length);
    const std::uint16_t other = free_port(scene.b);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_in from = socket_address(scene.b, other), to = socket_address(scene.a, scene.port);
    REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0);
    const Frame frame = sealed_frame(scene.path(other), 5, 64);
    const std::size_t size = frame.size() - 28;
    REQUIRE(sendto(fd, &frame[28], size, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) ==
            static_cast<ssize_t>(size));
    Collector collector;
    scene.receive(collector);
    CHECK(collector.frames.size() == (length == 0 ? 0 : 1));
    CHECK(scene.link->counters().wrong_source_port == (length == 0 ? 1 : 0));
    if (length != 0) CHECK(wire::load_be<std::uint16_t>(&collector.frames.at(0)[20]) == other);
    close(fd);
  }
}

TEST_CASE(
    "with nothing configured, a source port proves nothing of other hosts, and keeps the users of this one apart") {
  constexpr std::uint16_t kOwn = wire::kRocePort, kOther = 50'000;
  const auto admits = [](const std::shared_ptr<const ForeignPeers>& foreign, const wire::Gid& sender,
                         std::uint16_t port) {
    PeerFilter filter(kOwn, foreign);
    wire::Path path;
    path.sgid = sender;
    path.source_port = port;
    const bool admitted = filter.admits(path);
    CHECK(filter.rejected() == (admitted ? 0 : 1));
    return admitted;
  };
  const auto others = std::make_shared<ForeignPeers>();
  const auto none = std::make_shared<ForeignPeers>();
  none->close();
  const wire::Gid elsewhere = ipv4_gid(203, 0, 113, 9);
  wire::Gid ipv6;
  ipv6.bytes[15] = 1;
  CHECK(admits(others, elsewhere, kOther));
  CHECK_FALSE(admits(none, elsewhere, kOther));
  for (const wire::Gid& loopback : {ipv4_gid(127, 0, 0, 1), ipv4_gid(127, 9, 8, 7), ipv6}) {
    CHECK_FALSE(admits(others, loopback, kOther));
    CHECK(admits(others, loopback, kOwn));
  }
  for (const auto& [own, interface] : interface_addresses()) {
    CAPTURE(interface);
    CHECK_FALSE(admits(others, own, kOther));
    CHECK(admits(none, own, kOwn));
  }
}

// As the kernel's soft-RoCE sends: the identification in the header is the one that the ICRC covers.
TEST_CASE("frames with counting identifications arrive as they were sent") {
  const int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
  if (raw < 0) {
    MESSAGE("skipped: a raw socket needs CAP_NET_RAW");
    return;
  }
  for (const bool foreign : {true, false}) {
    CAPTURE(foreign);
    const Scene scene(foreign ? 128 : 0);
    const sockaddr_in to = socket_address(scene.a, 0);
    Collector collector;
    for (std::uint32_t i = 0; i < 300; ++i) {
      Frame frame = sealed_frame(scene.path(foreign ? 50'000 : scene.port), i, 4 * (1 + i % 64));
      wire::set_identification(frame, static_cast<std::uint16_t>(65'400 + i));  // over the wrap; the kernel replaces 0
      if (frame[4] == 0 && frame[5] == 0) continue;
      wire::seal_icrc(frame);
      Frame routed = frame;  // to the test's port, which stands for 4791
      wire::store_be(&routed[22], scene.port);
      REQUIRE(sendto(raw, routed.data(), routed.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) ==
              static_cast<ssize_t>(routed.size()));
      scene.receive(collector);
      CAPTURE(i);
      CHECK((collector.frames.back() == frame) == foreign);
      CHECK(wire::check_icrc(collector.frames.back()) == foreign);
    }
    CHECK(collector.frames.size() == 299);
  }
  close(raw);
}

TEST_CASE("datagrams of any length arrive, also those that are no packet") {
  for (const std::uint8_t length : {0, 128}) {
    CAPTURE(length);
    const Scene scene(length);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_in from = socket_address(scene.b, scene.port), to = socket_address(scene.a, scene.port);
    REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0);
    const Frame bytes(64, 0x5a);
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
      CAPTURE(size);
      REQUIRE(sendto(fd, bytes.data(), size, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) ==
              static_cast<ssize_t>(size));
      Collector collector;
      scene.receive(collector);
      REQUIRE(collector.frames.size() == 1);
      CHECK(collector.frames[0].size() == 28 + size);
    }
    close(fd);
  }
}
