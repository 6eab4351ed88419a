// One address of a port: claimed for this process, and the links that serve it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "host/configuration/configuration.h"
#include "link/inproc/inproc_link.h"
#include "link/shm/shm_link.h"
#include "link/udp/tunnel_link.h"
#include "link/udp/udp_link.h"

namespace verbs::soft::host {

// Which links the addresses of a port have.
struct PortLinks {
  Reach reach = Reach::kAuto;
  bool tunnels = false;                                         // listen() will be called
  std::shared_ptr<const link::ForeignPeers> foreign = nullptr;  // of its sockets
  const link::OfferedMemory* offered = nullptr;                 // to peers
  std::shared_ptr<link::Neighbour> entrance = nullptr;          // for messages from this process
};

class PortAddress {
 public:
  // 0 or errno: EADDRINUSE if the address is taken, EADDRNOTAVAIL if this machine does not have it.
  static int claim(const wire::Gid& address, const PortLinks& links, const std::function<void()>& notify,
                   std::unique_ptr<PortAddress>* claimed);
  ~PortAddress();

  const wire::Gid& gid() const { return gid_; }
  link::Link& link() { return inproc_ ? static_cast<link::Link&>(*inproc_) : others(); }
  const link::UdpLink* udp() const { return udp_.get(); }
  const link::InprocLink* inproc() const { return inproc_.get(); }
  link::ShmLink* shm() const { return shm_.get(); }
  const link::TunnelLink* tunnels() const { return tunnels_.get(); }
  // From now on the address receives packets of such tunnels. 0 or errno. Packets from this process need no socket: if
  // the process may not open a raw socket, that is an error only without the in-process link.
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);
  // From now on the address receives packets to the group. 0 or errno.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);

 private:
  link::Link& others() { return shm_ ? static_cast<link::Link&>(*shm_) : sockets(); }
  link::Link& sockets() { return tunnels_ ? static_cast<link::Link&>(*tunnels_) : *udp_; }
  explicit PortAddress(const wire::Gid& gid) : gid_(gid) {}

  wire::Gid gid_;
  std::unique_ptr<link::UdpLink> udp_;
  std::unique_ptr<link::TunnelLink> tunnels_;  // in front of it
  std::unique_ptr<link::ShmLink> shm_;         // in front of both
  std::unique_ptr<link::InprocLink> inproc_;   // in front of all
};

}  // namespace verbs::soft::host
