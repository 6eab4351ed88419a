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
  // All: the addresses are this device's alone.
  std::shared_ptr<link::NumberRanges> numbers = link::NumberRanges::all();
  std::shared_ptr<link::Neighbour> entrance = nullptr;  // for messages from this process
};

class PortAddress {
 public:
  // 0 or errno: EADDRINUSE if another user has the address, or a device of this process, EADDRNOTAVAIL if this machine
  // does not have it.
  static int claim(const wire::Gid& address, const PortLinks& links, const std::function<void()>& notify,
                   std::unique_ptr<PortAddress>* claimed);
  ~PortAddress();

  const wire::Gid& gid() const { return gid_; }
  link::Link& link() { return inproc_ ? static_cast<link::Link&>(*inproc_) : others(); }
  const link::UdpLink* udp() const { return udp_.get(); }
  const link::InprocLink* inproc() const { return inproc_.get(); }
  link::ShmLink* shm() const { return shm_.get(); }
  link::SocketGroup* group() const { return group_.get(); }
  const link::TunnelLink* tunnels() const { return tunnels_.get(); }
  // From now on the address receives packets of such tunnels. 0 or errno. Packets from this process need no socket: if
  // the process may not open a raw socket, that is an error only without the in-process link.
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);
  // From now on packets to those numbers reach this process here. 0 or errno: EADDRINUSE if they reach another one.
  int serve(link::Range range);
  void unserve(link::Range range);
  // This process has a service of the connection manager here. 0 or errno: EADDRINUSE if another one has it.
  int open_service(const link::Service& service);
  void close_service(const link::Service& service);
  // In a forked child: the sockets and connections are the parent's.
  void abandon();
  // From now on the address receives packets to the group: with `own`, those of this process, too, of whatever address.
  // 0 or errno.
  int join(const wire::Gid& group, bool own);
  void leave(const wire::Gid& group);

 private:
  link::Link& others() { return shm_ ? static_cast<link::Link&>(*shm_) : sockets(); }
  link::Link& sockets() { return tunnels_ ? static_cast<link::Link&>(*tunnels_) : *udp_; }
  explicit PortAddress(const wire::Gid& gid) : gid_(gid) {}

  wire::Gid gid_;
  std::unique_ptr<link::SocketGroup> group_;  // says farewell when the socket is closed
  std::unique_ptr<link::UdpLink> udp_;
  std::unique_ptr<link::TunnelLink> tunnels_;  // in front of it
  std::unique_ptr<link::ShmLink> shm_;         // in front of both
  std::unique_ptr<link::InprocLink> inproc_;   // in front of all
};

}  // namespace verbs::soft::host
