#include "nic/ports/ports.h"

#include <cerrno>

namespace verbs::soft::nic {

Ports::Ports(const std::vector<PortConfig>& configs, EventSink& events, Counters& counters)
    : events_(events), counters_(counters) {
  for (const PortConfig& config : configs) ports_.emplace_back(config);
}

int Ports::query(std::uint8_t port_num, ibv_port_attr* attr) const {
  const Port* port = find(port_num);
  if (port == nullptr) return EINVAL;
  port->query(attr);
  return 0;
}

int Ports::query_gid(std::uint8_t port_num, int index, wire::Gid* gid, GidKind* kind) const {
  const Port* port = find(port_num);
  if (port == nullptr || index < 0 || static_cast<std::size_t>(index) >= port->gids().size()) return EINVAL;
  *gid = port->gids()[static_cast<std::size_t>(index)];
  if (kind) *kind = port->gid_kind(static_cast<std::size_t>(index));
  return 0;
}

int Ports::query_pkey(std::uint8_t port_num, int index, std::uint16_t* pkey) const {
  if (!exists(port_num) || index != 0) return EINVAL;
  *pkey = kDefaultPkey;
  return 0;
}

std::uint32_t Ports::frame_limit(std::uint8_t port_num) const {
  const Port* port = find(port_num);
  return port == nullptr ? 0 : port->frame_limit();
}

int Ports::set_link(std::uint8_t port_num, bool up) {
  Port* port = find(port_num);
  if (port == nullptr) return EINVAL;
  if (port->is_up() == up) return 0;
  port->set_up(up);
  if (!up) ++counters_.link_downed;
  report(up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port_num);
  return 0;
}

int Ports::add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index) {
  Port* port = find(port_num);
  if (port == nullptr) return EINVAL;
  if (const int error = port->add_gid(gid, index)) return error;
  report(IBV_EVENT_GID_CHANGE, port_num);
  return 0;
}

int Ports::remove_gid(std::uint8_t port_num, const wire::Gid& gid) {
  Port* port = find(port_num);
  if (port == nullptr) return EINVAL;
  if (const int error = port->remove_gid(gid)) return error;
  report(IBV_EVENT_GID_CHANGE, port_num);
  return 0;
}

int Ports::set_mtu(std::uint8_t port_num, ibv_mtu mtu) {
  Port* port = find(port_num);
  if (port == nullptr || mtu < IBV_MTU_256 || mtu > port->max_mtu()) return EINVAL;
  port->set_mtu(mtu);
  return 0;
}

void Ports::revoke_references() {
  for (Port& port : ports_) port.transmitter().revoke_references();
}

void Ports::open_tunnel(std::uint8_t port_num, std::shared_ptr<const wire::Tunnel> tunnel) {
  if (Port* port = find(port_num)) port->add_tunnel(std::move(tunnel));
}

void Ports::close_tunnel(std::uint8_t port_num, const std::shared_ptr<const wire::Tunnel>& tunnel) {
  if (Port* port = find(port_num)) port->remove_tunnel(tunnel);
}

}  // namespace verbs::soft::nic
