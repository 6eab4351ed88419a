#include "nic/objects/ports.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "link/neighbour.h"

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
  link::Neighbourhood::changed();
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
  link::Neighbourhood::changed();
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
  link::Neighbourhood::changed();
}

void Ports::close_tunnel(std::uint8_t port_num, const std::shared_ptr<const wire::Tunnel>& tunnel) {
  if (Port* port = find(port_num)) port->remove_tunnel(tunnel);
  link::Neighbourhood::changed();
}

namespace {

constexpr std::uint8_t kDefaultHopLimit = 64;
// Values of ibv_port_attr.phys_state: the kernel's enum ib_port_phys_state. User space has no names for them.
constexpr std::uint8_t kPhysDisabled = 3;
constexpr std::uint8_t kPhysLinkUp = 5;

// The flow label for an address vector without one (include/rdma/ib_verbs.h: rdma_calc_flow_label).
std::uint32_t flow_label_of(std::uint32_t local_qpn, std::uint32_t remote_qpn) {
  std::uint64_t value = static_cast<std::uint64_t>(local_qpn) * remote_qpn;
  value ^= value >> 20;
  value ^= value >> 40;
  return static_cast<std::uint32_t>(value & 0xfffff);
}

wire::Gid link_local(std::uint64_t guid) {
  wire::Gid gid;
  gid.bytes[0] = 0xfe;
  gid.bytes[1] = 0x80;
  wire::store_be<std::uint64_t>(&gid.bytes[8], guid);
  return gid;
}

}  // namespace

wire::Gid group_on_wire(const wire::Gid& group, bool ipv4) {
  if (!ipv4 || group.is_ipv4()) return group;
  const std::uint8_t address[4] = {239, group.bytes[13], group.bytes[14], group.bytes[15]};
  return wire::Gid::from_ipv4(address);
}

Port::Port(const PortConfig& config)
    : transmitter_(config.transmitter),
      frames_(config.frames),
      gid_shape_(config.gid_shape),
      max_mtu_(config.max_mtu),
      active_mtu_(config.active_mtu),
      up_(config.up),
      strict_(config.strict),
      management_(config.management) {
  const std::size_t entries = (config.gids.size() + 1) * 2;
  gids_.resize(std::max(gid_shape_ == GidShape::kPlain ? config.gids.size() : entries, kGidTableLength));
  kinds_.resize(gids_.size());
  if (gid_shape_ == GidShape::kMlx5) take_empty(link_local(config.guid), {.roce_v1 = true, .holds_place = true});
  if (gid_shape_ != GidShape::kPlain) take_empty(link_local(config.guid), {.roce_v1 = false, .holds_place = true});
  for (const wire::Gid& gid : config.gids) {
    if (gid_shape_ == GidShape::kMlx5) take_empty(gid, {.roce_v1 = true, .holds_place = true});
    take_empty(gid, {});
  }
}

// For a table that has room.
std::size_t Port::take_empty(const wire::Gid& gid, GidKind kind) {
  const auto empty = std::find_if(gids_.begin(), gids_.end(), [](const wire::Gid& entry) { return entry.is_zero(); });
  *empty = gid;
  const auto index = static_cast<std::size_t>(empty - gids_.begin());
  kinds_[index] = kind;
  return index;
}

const wire::Gid& Port::first_gid() const {
  for (std::size_t i = 0; i < gids_.size(); ++i) {
    if (!gids_[i].is_zero() && !kinds_[i].holds_place) return gids_[i];
  }
  return gids_.back();
}

void Port::query(ibv_port_attr* attr) const {
  *attr = {};
  attr->state = up_ ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attr->max_mtu = max_mtu_;
  attr->active_mtu = active_mtu_;
  attr->gid_tbl_len = static_cast<int>(gids_.size());
  attr->port_cap_flags = capabilities();
  attr->max_msg_sz = 1u << 31;
  attr->pkey_tbl_len = 1;
  attr->max_vl_num = 1;
  attr->active_width = 2;   // 4X
  attr->active_speed = 32;  // 25 Gb/s a lane
  attr->phys_state = up_ ? kPhysLinkUp : kPhysDisabled;
  attr->link_layer = IBV_LINK_LAYER_ETHERNET;
  attr->flags = IBV_QPF_GRH_REQUIRED;
}

// IBV_PORT_CM_SUP promises connection management on QP 1.
std::uint32_t Port::capabilities() const {
  return IBV_PORT_IP_BASED_GIDS | (management_ ? std::uint32_t{IBV_PORT_CM_SUP} : 0u);
}

int Port::resolve(const ibv_ah_attr& attr, wire::Path* path, Why* why) const {
  const std::uint64_t index = attr.grh.sgid_index;
  const auto refuse = [&](Reason reason) {
    if (why != nullptr) *why = {reason, {index}};
    return EINVAL;
  };
  if (!attr.is_global) return refuse(Reason::kNoGrh);
  if (index >= gids_.size() || kinds_[index].holds_place) return refuse(Reason::kGidIndex);
  if (strict_ && (attr.grh.flow_label > kFlowLabelBits || attr.dlid != 0)) return refuse(Reason::kAddressForm);
  path->sgid = gids_[index];
  path->dgid = wire::Gid::from_bytes(attr.grh.dgid.raw);
  if (path->dgid.is_multicast()) path->dgid = group_on_wire(path->dgid, path->sgid.is_ipv4());
  if (path->sgid.is_zero()) return refuse(Reason::kGidIndex);
  if (path->dgid.is_zero()) return refuse(Reason::kNoDestination);
  if (path->dgid.is_ipv4() != path->sgid.is_ipv4()) return refuse(Reason::kIpVersions);
  path->traffic_class = attr.grh.traffic_class;
  path->hop_limit = attr.grh.hop_limit != 0 ? attr.grh.hop_limit : kDefaultHopLimit;
  path->flow_label = attr.grh.flow_label & kFlowLabelBits;
  path->destination_port = wire::kRocePort;
  return 0;
}

// The payload of packets in IP packets of that length, as soft-RoCE computes it: all headers have 80 bytes at most. A
// way that carries less than the least MTU of RoCE loses packets.
static ibv_mtu payload_in(std::uint32_t ip_mtu, ibv_mtu most) {
  constexpr std::uint32_t kHeaders = 80;
  int mtu = most;
  while (mtu > IBV_MTU_256 && mtu_bytes(static_cast<ibv_mtu>(mtu)) + kHeaders > ip_mtu) --mtu;
  return static_cast<ibv_mtu>(mtu);
}

ibv_mtu Port::path_mtu(const wire::Gid& source, const wire::Gid& destination) const {
  if (transmitter_ == nullptr || !tunnels_.empty() || destination.is_multicast()) return active_mtu_;
  std::uint32_t ip_mtu = UINT32_MAX;
  (void)transmitter_->route(source, destination, &ip_mtu);
  return payload_in(ip_mtu, active_mtu_);
}

Why Port::why_unreachable(const wire::Gid& source, const wire::Gid& destination) const {
  const auto index = static_cast<std::uint64_t>(std::find(gids_.begin(), gids_.end(), source) - gids_.begin());
  for (std::size_t i = 0; i < gids_.size(); ++i) {
    if (gids_[i].is_zero() || kinds_[i].holds_place || gids_[i] == source || gids_[i].is_ipv4() != source.is_ipv4())
      continue;
    std::uint32_t ip_mtu = 0;
    if (transmitter_->route(gids_[i], destination, &ip_mtu) == 0) return {Reason::kOtherGid, {index, i}};
  }
  return {Reason::kUnreachable};
}

int Port::use(wire::Path* path, Why* why) const {
  if (const int error = use(path->sgid)) {
    if (why != nullptr) *why = {Reason::kAddressTaken};
    return error;
  }
  if (!up_ || transmitter_ == nullptr || !tunnels_.empty() || path->dgid.is_multicast()) return 0;
  std::uint32_t ip_mtu = UINT32_MAX;
  const int error = transmitter_->route(path->sgid, path->dgid, &ip_mtu);
  path->mtu = static_cast<std::uint16_t>(mtu_bytes(payload_in(ip_mtu, IBV_MTU_4096)));
  if (error == 0 || owns(path->dgid)) return 0;
  if (why != nullptr) *why = why_unreachable(path->sgid, path->dgid);
  return error;
}

void Port::ask(const wire::Gid& gid) {
  if (gid.is_zero() || std::find(asked_.begin(), asked_.end(), gid) != asked_.end()) return;
  asked_.push_back(gid);
  // An address of another user receives nothing.
  if (datagrams_) (void)use(gid);
}

void Port::receive_datagrams() {
  if (std::exchange(datagrams_, true)) return;
  for (const wire::Gid& gid : asked_) {
    if (owns(gid)) (void)use(gid);
  }
}

bool Port::owns(const wire::Gid& gid) const {
  return std::find(gids_.begin(), gids_.end(), gid) != gids_.end() && !gid.is_zero();
}

int Port::add_gid(const wire::Gid& gid, std::uint32_t* index) {
  if (gid.is_zero()) return EINVAL;
  if (owns(gid)) return EEXIST;
  const auto is_empty = [](const wire::Gid& entry) { return entry.is_zero(); };
  const bool twice = gid_shape_ == GidShape::kMlx5;
  if (std::count_if(gids_.begin(), gids_.end(), is_empty) < (twice ? 2 : 1)) return ENOSPC;
  if (twice) take_empty(gid, {.roce_v1 = true, .holds_place = true});
  *index = static_cast<std::uint32_t>(take_empty(gid, {}));
  return 0;
}

int Port::remove_gid(const wire::Gid& gid) {
  if (!owns(gid)) return ENOENT;
  for (wire::Gid& entry : gids_) {
    if (entry == gid) entry = {};
  }
  lost_gids_ = true;
  return 0;
}

std::uint16_t Port::source_port(std::uint32_t flow_label, std::uint32_t local_qpn, std::uint32_t remote_qpn) const {
  if (const std::uint16_t fixed = transmitter_->fixed_source_port()) return fixed;
  const std::uint32_t label = flow_label != 0 ? flow_label : flow_label_of(local_qpn, remote_qpn);
  return static_cast<std::uint16_t>(((label & 0x3fff) ^ (label >> 14)) | 0xc000);
}

}  // namespace verbs::soft::nic
