#include "link/udp/group_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "link/udp/ip_socket.h"

namespace verbs::soft::link {
namespace {

constexpr int kBufferBytes = 1 << 20;

ip_mreqn request_of(const wire::Gid& group, const wire::Gid& address) {
  ip_mreqn request{};
  std::memcpy(&request.imr_multiaddr, group.ipv4(), 4);
  std::memcpy(&request.imr_address, address.ipv4(), 4);
  return request;
}

// 0 or errno.
int set(int fd, int level, int name, const void* value, socklen_t size) {
  return setsockopt(fd, level, name, value, size) == 0 ? 0 : errno;
}

int join_group(int fd, const wire::Gid& group, const wire::Gid& address) {
  const int no = 0;
  if (group.is_ipv4()) {
    const ip_mreqn request = request_of(group, address);
    if (const int error = set(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request)) return error;
    return set(fd, IPPROTO_IP, IP_MULTICAST_ALL, &no, sizeof no);
  }
  ipv6_mreq request{};
  std::memcpy(&request.ipv6mr_multiaddr, group.bytes.data(), 16);
  request.ipv6mr_interface = interface_of(address);
  if (const int error = set(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request)) return error;
#ifdef IPV6_MULTICAST_ALL
  return set(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, &no, sizeof no);
#else
  return 0;
#endif
}

}  // namespace

GroupSockets::~GroupSockets() { abandon(); }

void GroupSockets::abandon() {
  for (const Socket& socket : sockets_) close(socket.fd);
  sockets_.clear();
}

int GroupSockets::prepare_sender(int fd, const wire::Gid& address) {
  const int hops = kDefaultHopLimit;
  if (address.is_ipv4()) {
    const ip_mreqn request = request_of({}, address);
    if (const int error = set(fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request)) return error;
    return set(fd, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops);
  }
  const auto index = static_cast<int>(interface_of(address));
  if (const int error = set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index)) return error;
  return set(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
}

int GroupSockets::join(const wire::Gid& group) {
  if (std::any_of(sockets_.begin(), sockets_.end(), [&](const Socket& known) { return known.group == group; })) {
    return 0;
  }
  sockets_.reserve(sockets_.size() + 1);  // without memory there is no socket that nobody closes
  const bool ipv4 = group.is_ipv4();
  const int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const int yes = 1;
  sockaddr_storage storage;
  const socklen_t length = to_sockaddr(group, port_, ipv4 ? 0 : interface_of(address_), &storage);
  int error = prepare_socket(fd, ipv4, kBufferBytes);
  if (error == 0) error = set(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (error == 0 && bind(fd, reinterpret_cast<sockaddr*>(&storage), length) != 0) error = errno;
  if (error == 0) error = join_group(fd, group, address_);
  if (error != 0) {
    close(fd);
    return error;
  }
  sockets_.push_back({group, fd});
  return 0;
}

void GroupSockets::leave(const wire::Gid& group) {
  std::erase_if(sockets_, [&](const Socket& socket) {
    if (socket.group != group) return false;
    close(socket.fd);
    return true;
  });
}

void GroupSockets::add_sockets(std::vector<int>* sockets) const {
  for (const Socket& socket : sockets_) sockets->push_back(socket.fd);
}

std::size_t GroupSockets::receive(Receiver& receiver, std::size_t budget) {
  std::size_t taken = 0;
  for (const Socket& socket : sockets_) {
    while (taken < budget && take(socket, receiver)) ++taken;
  }
  return taken;
}

bool GroupSockets::take(const Socket& socket, Receiver& receiver) {
  // The frame is built in place: the payload is received behind room for the headers.
  const std::span<std::uint8_t> room{buffer_ + wire::kMaxNetworkSize, sizeof buffer_ - wire::kMaxNetworkSize};
  Datagram datagram;
  if (!receive_datagram(socket.fd, room, &datagram)) return false;
  if (datagram.truncated) return true;  // longer than any frame
  datagram.path.dgid = socket.group;
  datagram.path.destination_port = wire::kRocePort;
  if (!filter_.admits(datagram.path)) {
    receiver.refuse(datagram.path);
    return true;
  }
  std::uint8_t* frame = room.data() - wire::network_size(datagram.path);
  const std::size_t network = wire::write_network(frame, datagram.path, datagram.size);
  filter_.complete({frame, network + datagram.size}, datagram.path);
  receiver.deliver({frame, network + datagram.size});
  return true;
}

}  // namespace verbs::soft::link
