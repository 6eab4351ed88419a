#include "link/udp/ip_socket.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "wire/bytes.h"

#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif
// <linux/in6.h>, which does not go together with <netinet/in.h>.
#ifndef IPV6_FLOWINFO
#define IPV6_FLOWINFO 11
#endif
#ifndef IPV6_AUTOFLOWLABEL
#define IPV6_AUTOFLOWLABEL 70
#endif
#ifndef IPV6_FLOWINFO_SEND
#define IPV6_FLOWINFO_SEND 33
#endif

namespace verbs::soft::link {
namespace {

constexpr std::uint32_t kFlowLabel = 0xfffff;

int set(int fd, int level, int name, int value) { return setsockopt(fd, level, name, &value, sizeof value); }

void grow_buffer(int fd, int forced, int ordinary, int bytes) {
  if (set(fd, SOL_SOCKET, forced, bytes) != 0) set(fd, SOL_SOCKET, ordinary, bytes);
}

}  // namespace

int prepare_socket(int fd, bool ipv4, int buffer_bytes) {
  const int failed =
      ipv4
          ? set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) | set(fd, IPPROTO_IP, IP_TTL, kDefaultHopLimit) |
                set(fd, IPPROTO_IP, IP_RECVTOS, 1) | set(fd, IPPROTO_IP, IP_RECVTTL, 1)
          : set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) | set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_DO) |
                set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kDefaultHopLimit) | set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) |
                set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) | set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1);
  if (failed != 0) return errno;
  if (!ipv4) {  // a flow label is a help to routers: a kernel without it is no reason to fail
    (void)set(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1);
    (void)set(fd, IPPROTO_IPV6, IPV6_FLOWINFO, 1);
    (void)set(fd, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0);
  }
  grow_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
  grow_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
  return 0;
}

bool is_stale_report(int error) { return error == EINTR || error == ECONNREFUSED; }

void read_controls(msghdr& header, wire::Path* path) {
  for (cmsghdr* message = CMSG_FIRSTHDR(&header); message != nullptr; message = CMSG_NXTHDR(&header, message)) {
    const int level = message->cmsg_level, type = message->cmsg_type;
    if (level == IPPROTO_IPV6 && type == IPV6_FLOWINFO) {
      path->flow_label = wire::load_be<std::uint32_t>(CMSG_DATA(message)) & kFlowLabel;
      continue;
    }
    if (level == IPPROTO_IP && type == IP_TOS) {
      path->traffic_class = *CMSG_DATA(message);  // one byte, unlike all others
      continue;
    }
    int value = 0;
    if (message->cmsg_len < CMSG_LEN(sizeof value)) continue;
    std::memcpy(&value, CMSG_DATA(message), sizeof value);
    if (level == IPPROTO_IPV6 && type == IPV6_TCLASS) path->traffic_class = static_cast<std::uint8_t>(value);
    if ((level == IPPROTO_IP && type == IP_TTL) || (level == IPPROTO_IPV6 && type == IPV6_HOPLIMIT)) {
      path->hop_limit = static_cast<std::uint8_t>(value);
    }
  }
}

bool receive_datagram(int fd, std::span<std::uint8_t> room, Datagram* datagram) {
  alignas(cmsghdr) char controls[kControl];
  sockaddr_storage from{};
  iovec piece{room.data(), room.size()};
  msghdr header{};
  header.msg_name = &from;
  header.msg_namelen = sizeof from;
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = controls;
  header.msg_controllen = sizeof controls;
  ssize_t received = -1;
  do {
    received = recvmsg(fd, &header, MSG_DONTWAIT);
  } while (received < 0 && is_stale_report(errno));
  if (received < 0) return false;
  datagram->size = static_cast<std::size_t>(received);
  datagram->truncated = (header.msg_flags & MSG_TRUNC) != 0;
  datagram->path.sgid = gid_of(from);
  datagram->path.source_port = port_of(from);
  read_controls(header, &datagram->path);
  return true;
}

void add_control(msghdr& header, int level, int type, const void* value, std::size_t size) {
  auto* message = reinterpret_cast<cmsghdr*>(static_cast<char*>(header.msg_control) + header.msg_controllen);
  message->cmsg_level = level;
  message->cmsg_type = type;
  message->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(message), value, size);
  header.msg_controllen += CMSG_SPACE(size);
}

void write_controls(const std::uint8_t* frame, msghdr& header, char* room) {
  const bool ipv4 = frame[0] >> 4 == 4;
  const int traffic_class = ipv4 ? frame[1] : (frame[0] & 0x0f) << 4 | frame[1] >> 4;
  const int hop_limit = ipv4 ? frame[8] : frame[7];
  const int level = ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
  header.msg_control = room;
  header.msg_controllen = 0;
  if (!ipv4) {
    auto* to = static_cast<sockaddr_in6*>(header.msg_name);
    to->sin6_flowinfo = htonl(wire::load_be<std::uint32_t>(frame) & kFlowLabel);
  }
  if (traffic_class != 0) add_control(header, level, ipv4 ? IP_TOS : IPV6_TCLASS, &traffic_class, sizeof traffic_class);
  if (hop_limit != kDefaultHopLimit) {
    add_control(header, level, ipv4 ? IP_TTL : IPV6_HOPLIMIT, &hop_limit, sizeof hop_limit);
  }
}

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
