#include "link/udp/socket_address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

namespace verbs::soft::link {

socklen_t to_sockaddr(const wire::Gid& gid, std::uint16_t port, std::uint32_t scope, sockaddr_storage* storage) {
  if (gid.is_ipv4()) {
    auto* address = reinterpret_cast<sockaddr_in*>(storage);
    *address = {};
    address->sin_family = AF_INET;
    address->sin_port = htons(port);
    std::memcpy(&address->sin_addr, gid.ipv4(), 4);
    return sizeof *address;
  }
  auto* address = reinterpret_cast<sockaddr_in6*>(storage);
  *address = {};
  address->sin6_family = AF_INET6;
  address->sin6_port = htons(port);
  std::memcpy(&address->sin6_addr, gid.bytes.data(), 16);
  if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) address->sin6_scope_id = scope;
  return sizeof *address;
}

wire::Gid gid_of(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(storage).sin_addr;
    return wire::Gid::from_ipv4(reinterpret_cast<const std::uint8_t*>(&address));
  }
  return wire::Gid::from_bytes(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
}

std::uint16_t port_of(const sockaddr_storage& storage) {
  return ntohs(storage.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                                            : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
}

std::uint32_t interface_of(const wire::Gid& gid) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return 0;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET6) continue;
    const auto& address = *reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
    if (std::memcmp(&address.sin6_addr, gid.bytes.data(), 16) == 0) return if_nametoindex(entry->ifa_name);
  }
  return 0;
}

std::uint32_t scope_of(const wire::Gid& gid) {
  return gid.bytes[0] == 0xfe && (gid.bytes[1] & 0xc0) == 0x80 ? interface_of(gid) : 0;
}

}  // namespace verbs::soft::link
