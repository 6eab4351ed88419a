// Stands in front of a port's UDP link and carries the frames of tunnels. Packets of UDP tunnels leave by the port's
// socket, with another destination port, and arrive on sockets of their own. Packets of IPv4 tunnels use raw sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "link/udp/udp_link.h"
#include "wire/tunnel.h"

namespace verbs::soft::link {

class TunnelLink final : public Link {
 public:
  // `next` is bound to the IPv4 address `address` and must outlive this link. 0 or errno.
  static int open(const wire::Gid& address, UdpLink& next, std::unique_ptr<TunnelLink>* link);
  ~TunnelLink() override;
  TunnelLink(const TunnelLink&) = delete;
  TunnelLink& operator=(const TunnelLink&) = delete;

  // From now on packets of such tunnels are received. Every listen() that succeeds needs an unlisten(). 0 or errno:
  // EADDRNOTAVAIL (the tunnel's source is no address of this machine), EADDRINUSE (its UDP port is taken), EPERM (an
  // IPv4 tunnel needs a raw socket, and those need CAP_NET_RAW).
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);
  // In a forked child: the sockets are the parent's.
  void abandon();

  std::uint8_t* reserve() override { return reserved_ = next_.reserve(); }
  void commit(std::size_t size) override;
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return next_.route(source, destination, mtu);
  }
  void flush() override { next_.flush(); }
  std::uint16_t fixed_source_port() const override { return next_.fixed_source_port(); }
  std::size_t receive(Receiver& receiver, std::size_t budget) override;
  // Readable when frames wait on the tunnels' sockets; the next link has its own descriptor.
  int wait_fd() const override { return epoll_; }

  const UdpCounters& counters() const { return counters_; }

 private:
  struct Socket {
    std::uint8_t protocol;  // 17: a UDP socket bound to `port`, else a raw socket
    std::uint16_t port;
    int fd;
    unsigned listeners;
  };
  TunnelLink(const wire::Gid& address, UdpLink& next, int epoll) : address_(address), next_(next), epoll_(epoll) {}
  Socket* find(const wire::Tunnel& tunnel);
  int check_source(const wire::Gid& source) const;
  void send_by(int fd, std::size_t network, std::size_t size, bool other_source);
  bool take(const Socket& socket, Receiver& receiver);

  wire::Gid address_;
  UdpLink& next_;
  int epoll_;
  std::vector<Socket> sockets_;
  std::uint8_t* reserved_ = nullptr;
  std::uint8_t buffer_[wire::kMaxFrame];
  UdpCounters counters_;
};

}  // namespace verbs::soft::link
