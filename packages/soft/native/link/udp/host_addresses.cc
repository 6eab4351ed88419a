#include "link/udp/host_addresses.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

constexpr std::size_t kMost = 100;

struct InterfacesFreer {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};
using List = std::unique_ptr<ifaddrs, InterfacesFreer>;

List interfaces() {
  const Uncancelled calls;
  ifaddrs* first = nullptr;
  return List(getifaddrs(&first) == 0 ? first : nullptr);
}

std::optional<wire::Gid> gid_of(const sockaddr* address) {
  if (address && address->sa_family == AF_INET) {
    std::uint8_t bytes[4];
    std::memcpy(bytes, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, sizeof bytes);
    return wire::Gid::from_ipv4(bytes);
  }
  if (address && address->sa_family == AF_INET6) {
    return wire::Gid::from_bytes(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr.s6_addr);
  }
  return std::nullopt;
}

int rank_of(const wire::Gid& gid) {
  if (gid.is_ipv4()) return 0;
  return gid.bytes[0] == 0xfe && (gid.bytes[1] & 0xc0) == 0x80 ? 2 : 1;
}

}  // namespace

std::vector<std::pair<wire::Gid, std::string>> interface_addresses() {
  std::vector<std::pair<wire::Gid, std::string>> found;
  const List all = interfaces();
  for (const ifaddrs* each = all.get(); each; each = each->ifa_next) {
    if (const auto gid = gid_of(each->ifa_addr)) found.emplace_back(*gid, each->ifa_name);
  }
  return found;
}

const std::string& Interfaces::of(const wire::Gid& gid) const {
  static const std::string kLoopback = "lo";
  for (const auto& [address, name] : addresses_) {
    if (address == gid) return name;
  }
  return kLoopback;
}

bool is_loopback(const wire::Gid& gid) {
  static const wire::Gid kIpv6 = [] {
    wire::Gid loopback;
    loopback.bytes[15] = 1;
    return loopback;
  }();
  return gid.is_ipv4() ? gid.ipv4()[0] == 127 : gid == kIpv6;
}

std::vector<wire::Gid> host_addresses() {
  std::vector<wire::Gid> found;
  const List all = interfaces();
  for (const ifaddrs* each = all.get(); each; each = each->ifa_next) {
    const auto gid = gid_of(each->ifa_addr);
    if ((each->ifa_flags & IFF_UP) == 0 || !gid || is_loopback(*gid)) continue;
    // Two interfaces may have the same link-local address.
    if (std::ranges::find(found, *gid) == found.end()) found.push_back(*gid);
  }
  std::ranges::stable_sort(found, {}, rank_of);
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

AddressWatch::~AddressWatch() { abandon(); }

void AddressWatch::open() {
  fd_ = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (fd_ < 0) return;
  sockaddr_nl groups{};
  groups.nl_family = AF_NETLINK;
  groups.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&groups), sizeof groups) != 0) abandon();
}

// What the messages say does not matter, and ENOBUFS says that some were lost.
bool AddressWatch::take() {
  if (fd_ < 0) return false;
  const Uncancelled calls;
  bool changed = false;
  std::array<char, 4096> message;
  for (;;) {
    const ssize_t size = recv(fd_, message.data(), message.size(), MSG_DONTWAIT);
    if (size <= 0 && !(size < 0 && errno == ENOBUFS)) return changed;
    changed = true;
  }
}

void AddressWatch::abandon() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace verbs::soft::link
