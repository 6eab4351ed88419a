#include "link/udp/tunnel_link.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "link/udp/ip_socket.h"
#include "wire/bytes.h"

namespace verbs::soft::link {
namespace {

constexpr std::uint8_t kUdp = 17;

std::uint8_t protocol_of(const wire::Tunnel& tunnel) {
  return tunnel.type == wire::Tunnel::Type::kUdp ? kUdp : tunnel.ip_protocol;
}

// 0 or errno.
int bind_to(int fd, const wire::Gid& address, std::uint16_t port) {
  sockaddr_storage storage;
  const socklen_t length = to_sockaddr(address, port, 0, &storage);
  return bind(fd, reinterpret_cast<sockaddr*>(&storage), length) == 0 ? 0 : errno;
}

}  // namespace

int TunnelLink::open(const wire::Gid& address, UdpLink& next, std::unique_ptr<TunnelLink>* link) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return errno;
  try {
    link->reset(new TunnelLink(address, next, epoll));
  } catch (...) {  // there is no memory
    close(epoll);
    throw;
  }
  return 0;
}

TunnelLink::~TunnelLink() { abandon(); }

void TunnelLink::abandon() {
  for (const Socket& socket : sockets_) close(socket.fd);
  sockets_.clear();
  if (epoll_ >= 0) close(epoll_);
  epoll_ = -1;
}

TunnelLink::Socket* TunnelLink::find(const wire::Tunnel& tunnel) {
  const std::uint8_t protocol = protocol_of(tunnel);
  const auto found = std::find_if(sockets_.begin(), sockets_.end(), [&](const Socket& socket) {
    return socket.protocol == protocol && socket.port == tunnel.udp_port;
  });
  return found == sockets_.end() ? nullptr : &*found;
}

int TunnelLink::check_source(const wire::Gid& source) const {
  if (source.is_zero() || source == address_) return 0;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int error = bind_to(fd, source, 0);
  close(fd);
  return error;
}

int TunnelLink::listen(const wire::Tunnel& tunnel) {
  if (const int error = check_source(tunnel.source)) return error;
  // Plain packets and packets of tunnels to the RoCE port arrive on the port's own socket.
  if (tunnel.type == wire::Tunnel::Type::kPlain || tunnel.udp_port == next_.fixed_source_port()) return 0;
  if (Socket* socket = find(tunnel)) {
    ++socket->listeners;
    return 0;
  }
  sockets_.reserve(sockets_.size() + 1);
  const std::uint8_t protocol = protocol_of(tunnel);
  const int type = protocol == kUdp ? SOCK_DGRAM : SOCK_RAW;
  const int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
  if (fd < 0) return errno;
  int error = prepare_socket(fd, true, UdpOptions{}.buffer_bytes);
  if (error == 0) error = bind_to(fd, address_, tunnel.udp_port);
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (error == 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) error = errno;
  if (error != 0) {
    close(fd);
    return error;
  }
  sockets_.push_back({protocol, tunnel.udp_port, fd, 1});
  return 0;
}

void TunnelLink::unlisten(const wire::Tunnel& tunnel) {
  Socket* socket = find(tunnel);
  if (socket == nullptr || --socket->listeners != 0) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket->fd, nullptr);  // a child of a fork may have a copy of it for a moment
  close(socket->fd);
  sockets_.erase(sockets_.begin() + (socket - sockets_.data()));
}

void TunnelLink::commit(std::size_t size) {
  const std::uint8_t* frame = reserved_;
  if (size < wire::kIpv4Size + wire::kUdpSize || frame[0] != 0x45) return next_.commit(size);
  const bool other_source = std::memcmp(frame + 12, address_.ipv4(), 4) != 0;
  if (frame[9] == kUdp) {
    const bool plain = wire::load_be<std::uint16_t>(frame + wire::kIpv4Size + 2) == next_.fixed_source_port();
    if (plain && !other_source) return next_.commit(size);
    return send_by(next_.wait_fd(), wire::kIpv4Size + wire::kUdpSize, size, other_source);
  }
  for (const Socket& socket : sockets_) {
    if (socket.protocol == frame[9]) return send_by(socket.fd, wire::kIpv4Size, size, other_source);
  }
  ++counters_.send_dropped;
}

void TunnelLink::send_by(int fd, std::size_t network, std::size_t size, bool other_source) {
  alignas(cmsghdr) char controls[kControl];
  sockaddr_storage storage;
  const wire::Gid destination = wire::destination_of({reserved_, size});
  const std::uint16_t port =
      network == wire::kIpv4Size ? 0 : wire::load_be<std::uint16_t>(reserved_ + wire::kIpv4Size + 2);
  iovec piece{reserved_ + network, size - network};
  msghdr header{};
  header.msg_name = &storage;
  header.msg_namelen = to_sockaddr(destination, port, 0, &storage);
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  write_controls(reserved_, header, controls);
  if (other_source) {
    in_pktinfo source{};
    std::memcpy(&source.ipi_spec_dst, reserved_ + 12, 4);
    add_control(header, IPPROTO_IP, IP_PKTINFO, &source, sizeof source);
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && is_stale_report(errno));
  ++(sent < 0 ? counters_.send_dropped : counters_.sent);
}

std::size_t TunnelLink::receive(Receiver& receiver, std::size_t budget) {
  std::size_t taken = next_.receive(receiver, budget);
  for (const Socket& socket : sockets_) {
    while (taken < budget && take(socket, receiver)) ++taken;
  }
  return taken;
}

bool TunnelLink::take(const Socket& socket, Receiver& receiver) {
  // Room for the headers, which a UDP socket does not hand over; a raw socket hands over the IP header.
  const std::size_t headers = socket.protocol == kUdp ? wire::kIpv4Size + wire::kUdpSize : 0;
  Datagram datagram;
  if (!receive_datagram(socket.fd, {buffer_ + headers, sizeof buffer_ - headers}, &datagram)) return false;
  if (datagram.truncated) {
    ++counters_.receive_dropped;
    return true;
  }
  if (headers != 0) {
    if (!next_.filter().admits(datagram.path)) {
      receiver.refuse(datagram.path);
      return true;
    }
    datagram.path.dgid = address_;
    datagram.path.destination_port = socket.port;
    wire::write_network(buffer_, datagram.path, datagram.size);
  }
  ++counters_.received;
  receiver.deliver({buffer_, headers + datagram.size});
  return true;
}

}  // namespace verbs::soft::link
