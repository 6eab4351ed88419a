// Joined datagrams between addresses that are not loopback addresses: in a network namespace of the test's own.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "link/udp/udp_link.h"
#include "test/link/support/memory_link.h"
#include "wire/identification.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

constexpr std::uint16_t kPort = 4791;
constexpr int kNotAllowed = 77;
constexpr std::uint32_t kFrames = 40;

wire::Gid ipv6_address() {
  wire::Gid gid;
  gid.bytes[0] = 0xfd;
  gid.bytes[15] = 1;
  return gid;
}

// The loopback interface, with two addresses of other networks.
bool set_up_namespace() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
  if (ioctl(fd, SIOCSIFFLAGS, &request) != 0 || ioctl(fd, SIOCGIFINDEX, &request) != 0) return false;
  const int index = request.ifr_ifindex;
  for (const char* name : {"lo:1", "lo:2"}) {
    ifreq alias = {};
    std::strcpy(alias.ifr_name, name);
    auto& address = reinterpret_cast<sockaddr_in&>(alias.ifr_addr);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0x0a0b0c00u + static_cast<unsigned>(name[3] - '0'));  // 10.11.12.1 and .2
    if (ioctl(fd, SIOCSIFADDR, &alias) != 0) return false;
  }
  close(fd);
  const int fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  in6_ifreq address6 = {};
  std::memcpy(&address6.ifr6_addr, ipv6_address().bytes.data(), 16);
  address6.ifr6_prefixlen = 128;
  address6.ifr6_ifindex = index;
  const bool added = fd6 >= 0 && ioctl(fd6, SIOCSIFADDR, &address6) == 0;
  close(fd6);
  return added;
}

template <typename Body>
int in_namespace(Body body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(kNotAllowed);
    if (!set_up_namespace()) _exit(kNotAllowed);
    _exit(body());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The kernel makes a new IPv6 address usable in a thread of its own, soon after it was added.
int open_added(const wire::Gid& address, std::unique_ptr<UdpLink>* link) {
  constexpr int kMostTries = 60'000;  // a millisecond each
  int error = EADDRNOTAVAIL;
  for (int tries = 0; tries < kMostTries && error == EADDRNOTAVAIL; ++tries) {
    error = UdpLink::open(address, {.port = kPort}, link);
    if (error == EADDRNOTAVAIL) usleep(1000);
  }
  return error;
}

// 0, or the number of the check that failed.
int exchange(const wire::Gid& from_address, const wire::Gid& to_address) {
  std::unique_ptr<UdpLink> from, to;
  if (open_added(from_address, &from) != 0) return 1;
  if (from_address == to_address) {
    to = std::move(from);
  } else if (open_added(to_address, &to) != 0) {
    return 2;
  }
  UdpLink& sender = from ? *from : *to;
  wire::Path path;
  path.sgid = from_address;
  path.dgid = to_address;
  path.source_port = kPort;
  for (std::uint32_t i = 0; i < kFrames; ++i) send_unsealed(sender, unsealed(sealed_frame(path, i, 256)));
  sender.flush();
  if (sender.counters().sent != kFrames) return 3;
  FormCollector collector;
  // A datagram is received as a whole: these were joined.
  if (to->receive(collector, 1) != TransmitBatch::kMostSegments) return 4;
  while (to->receive(collector, kFrames) > 0) {
  }
  const bool ipv4 = to_address.is_ipv4();
  std::vector<Frame>& frames = ipv4 ? collector.unsealed : collector.sealed;
  if (frames.size() != kFrames) return 5;
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    Frame expected = sealed_frame(path, i, 256);
    // As it was on the wire, for a receiver that wants the ICRC.
    if (ipv4) {
      wire::set_identification(expected, static_cast<std::uint16_t>(i % TransmitBatch::kMostSegments));
      if (!std::equal(expected.begin(), expected.end() - 4, frames[i].begin(), frames[i].end() - 4)) return 6;
    } else if (frames[i] != expected) {
      return 7;
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("datagrams to other networks are joined, each frame sealed for its place, IPv4") {
  const int result = in_namespace([] { return exchange(ipv4_gid(10, 11, 12, 1), ipv4_gid(10, 11, 12, 2)); });
  if (result == kNotAllowed) {
    MESSAGE("no network namespace here");
  } else {
    CHECK(result == 0);
  }
}

TEST_CASE("datagrams to other networks are joined, IPv6") {
  const int result = in_namespace([] { return exchange(ipv6_address(), ipv6_address()); });
  if (result == kNotAllowed) {
    MESSAGE("no network namespace here");
  } else {
    CHECK(result == 0);
  }
}

TEST_CASE("a frame that is damaged in its identification's place is not taken for one with another number") {
  const int result = in_namespace([] {
    std::unique_ptr<UdpLink> from, to;
    if (UdpLink::open(ipv4_gid(10, 11, 12, 1), {.port = kPort}, &from) != 0) return 1;
    if (UdpLink::open(ipv4_gid(10, 11, 12, 2), {.port = kPort}, &to) != 0) return 2;
    wire::Path path;
    path.sgid = ipv4_gid(10, 11, 12, 1);
    path.dgid = ipv4_gid(10, 11, 12, 2);
    path.source_port = kPort;
    Frame damaged = sealed_frame(path, 1, 64);
    damaged[60] ^= 4;
    send(*from, damaged);
    from->flush();
    FormCollector collector;
    while (to->receive(collector, 8) > 0) {
    }
    return collector.unsealed.empty() && collector.sealed == std::vector<Frame>{damaged} ? 0 : 3;
  });
  if (result == kNotAllowed) {
    MESSAGE("no network namespace here");
  } else {
    CHECK(result == 0);
  }
}
