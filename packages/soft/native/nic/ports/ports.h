// The ports of a device: what ibv_query_port, ibv_query_gid and ibv_query_pkey report, and what changes while the
// device runs.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "nic/ports/port.h"
#include "nic/shared/counters.h"
#include "nic/shared/event.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

// Every call with a port number returns EINVAL if the device has no such port.
class Ports {
 public:
  Ports(const std::vector<PortConfig>& configs, EventSink& events, Counters& counters);

  std::size_t size() const { return ports_.size(); }
  // nullptr: no such port.
  Port* find(std::uint8_t port_num) { return exists(port_num) ? &ports_[port_num - 1] : nullptr; }
  const Port* find(std::uint8_t port_num) const { return exists(port_num) ? &ports_[port_num - 1] : nullptr; }
  Port& operator[](std::uint8_t port_num) { return ports_[port_num - 1]; }

  int query(std::uint8_t port_num, ibv_port_attr* attr) const;
  int query_gid(std::uint8_t port_num, int index, wire::Gid* gid, GidKind* kind = nullptr) const;
  int query_pkey(std::uint8_t port_num, int index, std::uint16_t* pkey) const;  // network byte order, as ibv_query_pkey
  std::uint32_t frame_limit(std::uint8_t port_num) const;  // of raw packets; 0 if there is no such port

  // A port that is down neither sends nor receives: queue pairs run into their timeouts. Raises IBV_EVENT_PORT_ERR or
  // _PORT_ACTIVE.
  int set_link(std::uint8_t port_num, bool up);
  // As the functions of Port. Raise IBV_EVENT_GID_CHANGE. Packets from a removed GID are dropped.
  int add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index);
  int remove_gid(std::uint8_t port_num, const wire::Gid& gid);
  // Applies to datagrams from now on, and to connections that are made from now on. No event, as with the kernel.
  int set_mtu(std::uint8_t port_num, ibv_mtu mtu);

  // What packets of any port refer to is the application's again (link/link.h).
  void revoke_references();

  // Packets arrive through an open tunnel only if it is open on their port.
  void open_tunnel(std::uint8_t port_num, std::shared_ptr<const wire::Tunnel> tunnel);
  void close_tunnel(std::uint8_t port_num, const std::shared_ptr<const wire::Tunnel>& tunnel);

 private:
  bool exists(std::uint8_t port_num) const { return port_num >= 1 && port_num <= ports_.size(); }
  void report(ibv_event_type type, std::uint8_t port_num) { events_.async({type, nullptr, nullptr, port_num}); }

  std::vector<Port> ports_;
  EventSink& events_;
  Counters& counters_;
};

}  // namespace verbs::soft::nic
