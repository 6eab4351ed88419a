// One address of a port: claimed for this process, and the links that serve it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "host/configuration/configuration.h"
#include "link/inproc/inproc_link.h"
#include "link/udp/tunnel_link.h"
#include "link/udp/udp_link.h"

namespace verbs::soft::host {

class PortAddress {
 public:
  // 0 or errno: EADDRINUSE if somebody has the address, EADDRNOTAVAIL if it is not this machine's.
  // `tunnels`: listen() will be called.
  static int claim(const wire::Gid& address, Reach reach, bool tunnels, const std::function<void()>& notify,
                   std::unique_ptr<PortAddress>* claimed);
  ~PortAddress();

  const wire::Gid& gid() const { return gid_; }
  link::Link& link() { return inproc_ ? static_cast<link::Link&>(*inproc_) : sockets(); }
  const link::UdpLink* udp() const { return udp_.get(); }
  const link::InprocLink* inproc() const { return inproc_.get(); }
  const link::TunnelLink* tunnels() const { return tunnels_.get(); }
  // Packets of such tunnels arrive from now on: 0 or errno. Within the process they do so anyway, so that a raw socket
  // which this process may not have matters only where there is no other way.
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);
  // What is sent to the group arrives from now on: 0 or errno.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);

 private:
  link::Link& sockets() { return tunnels_ ? static_cast<link::Link&>(*tunnels_) : *udp_; }
  explicit PortAddress(const wire::Gid& gid) : gid_(gid) {}

  wire::Gid gid_;
  std::unique_ptr<link::UdpLink> udp_;
  std::unique_ptr<link::TunnelLink> tunnels_;  // in front of it
  std::unique_ptr<link::InprocLink> inproc_;   // in front of both
};

}  // namespace verbs::soft::host
