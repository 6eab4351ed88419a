#include "model/device/address.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace verbs::rdmacm::model {
namespace {

constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

const sockaddr_in& v4(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in*>(address); }
const sockaddr_in6& v6(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in6*>(address); }

}  // namespace

bool is_ip(const sockaddr* address) { return address->sa_family == AF_INET || address->sa_family == AF_INET6; }

socklen_t size_of(const sockaddr* address) {
  if (address->sa_family == AF_INET) return sizeof(sockaddr_in);
  return address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
}

std::uint16_t port_of(const sockaddr* address) {
  if (address->sa_family == AF_INET) return ntohs(v4(address).sin_port);
  return address->sa_family == AF_INET6 ? ntohs(v6(address).sin6_port) : 0;
}

void set_port(sockaddr* address, std::uint16_t port) {
  if (address->sa_family == AF_INET) reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
  if (address->sa_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
}

Gid gid_of(const sockaddr* address) {
  Gid gid{};
  if (address->sa_family == AF_INET) {
    std::ranges::copy(kMapped, gid.begin());
    std::memcpy(&gid[12], &v4(address).sin_addr, 4);
  } else if (address->sa_family == AF_INET6) {
    std::memcpy(gid.data(), &v6(address).sin6_addr, 16);
  }
  return gid;
}

bool is_any(const sockaddr* address) {
  if (address->sa_family == AF_INET) return v4(address).sin_addr.s_addr == htonl(INADDR_ANY);
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6(address).sin6_addr);
}

bool is_ipv4(const Gid& gid) { return std::equal(std::begin(kMapped), std::end(kMapped), gid.begin()); }

bool is_multicast(const Gid& gid) { return gid[0] == 0xff || (is_ipv4(gid) && (gid[12] & 0xf0) == 0xe0); }

bool is_link_local(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

void copy_scope(const sockaddr* from, sockaddr* to) {
  if (from->sa_family != AF_INET6 || to->sa_family != AF_INET6) return;
  reinterpret_cast<sockaddr_in6*>(to)->sin6_scope_id = v6(from).sin6_scope_id;
}

void to_sockaddr(const Gid& gid, std::uint16_t port, sockaddr_storage* address) {
  *address = {};
  if (is_ipv4(gid)) {
    auto& to = *reinterpret_cast<sockaddr_in*>(address);
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    std::memcpy(&to.sin_addr, &gid[12], 4);
  } else {
    auto& to = *reinterpret_cast<sockaddr_in6*>(address);
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(port);
    std::memcpy(&to.sin6_addr, gid.data(), 16);
  }
}

bool is_of_system(const sockaddr* address) {
  const int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_storage local{};
  std::memcpy(&local, address, size_of(address));
  set_port(reinterpret_cast<sockaddr*>(&local), 0);
  const bool has = ::bind(fd, reinterpret_cast<sockaddr*>(&local), size_of(address)) == 0;
  close(fd);
  const Gid gid = gid_of(address);
  constexpr Gid kBroadcast = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  return has && !is_multicast(gid) && gid != kBroadcast;
}

bool source_for(const sockaddr* destination, Gid* source) {
  const int fd = socket(destination->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_storage to{}, from{};
  std::memcpy(&to, destination, size_of(destination));
  set_port(reinterpret_cast<sockaddr*>(&to), 4791);  // connect() needs some port
  socklen_t size = sizeof from;
  const bool found = connect(fd, reinterpret_cast<sockaddr*>(&to), size_of(destination)) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&from), &size) == 0;
  close(fd);
  if (found) *source = gid_of(reinterpret_cast<sockaddr*>(&from));
  return found;
}

}  // namespace verbs::rdmacm::model
