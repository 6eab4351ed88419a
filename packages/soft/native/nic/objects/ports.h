// A port: its link, its GID table, its MTU, and the way from an address vector to network headers.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "link/link.h"
#include "nic/base/limits.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

inline constexpr std::uint16_t kDefaultPkey = 0xffff;
inline constexpr std::uint32_t kFlowLabelBits = 0xfffff;

// The least length of a GID table: room for addresses that are added at run time.
inline constexpr std::size_t kGidTableLength = 16;

inline std::uint32_t mtu_bytes(ibv_mtu mtu) { return 128u << mtu; }

// The payload of an Ethernet frame: network devices allow at least 1500 bytes, whatever MTU RoCE uses.
inline std::uint32_t ethernet_mtu(ibv_mtu active) { return std::max<std::uint32_t>(mtu_bytes(active), 1500); }

// The destination address of a group in packets between IPv4 (or IPv6) addresses. A group of IPv6 form is the address
// 239.x.y.z in IPv4 packets, with the low 24 bits of its GID, so that ports with IPv4 addresses can join it. A group of
// IPv4 form has no IPv6 address: the result is `group` itself.
wire::Gid group_on_wire(const wire::Gid& group, bool ipv4);

// In which order a GID table has its entries: programs know those of a kind of device by their index. kPlain: the
// addresses. kRxe: one of the interface's own link-local address before them. kMlx5: as kRxe, and each twice, for RoCE
// v1 and then for RoCE v2.
enum class GidShape : std::uint8_t { kPlain, kRxe, kMlx5 };

// An entry that holds its place is there to be read: packets leave from the others. The NIC has no RoCE v1, and nobody
// routes to its link-local address.
struct GidKind {
  bool roce_v1 = false;
  bool holds_place = false;
};

struct PortConfig {
  link::Transmitter* transmitter = nullptr;
  std::vector<wire::Gid> gids;  // the addresses, which the first entries of the GID table are of
  ibv_mtu max_mtu = IBV_MTU_4096;
  ibv_mtu active_mtu = IBV_MTU_4096;
  bool up = true;
  link::Transmitter* frames = nullptr;  // where Ethernet frames go; nullptr: the device has no raw packets
  bool strict = false;                  // rejects address vectors that the specification does not allow on RoCE
  bool management = false;              // somebody answers on QP 1
  GidShape gid_shape = GidShape::kPlain;
  std::uint64_t guid = 0;  // the interface's identifier in its link-local address
};

class Port {
 public:
  explicit Port(const PortConfig& config);

  void query(ibv_port_attr* attr) const;
  std::uint32_t capabilities() const;  // ibv_port_cap_flags
  // The path of packets to an address vector. 0, or EINVAL, with the reason in *why: no GRH (is_global must be 1 on
  // RoCE), a GID index outside the table, of an empty entry or of one that holds its place, the zero GID as
  // destination, or source and destination of different IP versions. As for adapters, the lower 20 bits of a flow label
  // count and a dlid is ignored, unless the port is strict.
  int resolve(const ibv_ah_attr& attr, wire::Path* path, Why* why = nullptr) const;
  // The path is a connection's or an address handle's from now on: 0, or EADDRINUSE if another user has its source
  // address, or ENETUNREACH if the network does not lead along it, which the kernel asks too. Of a group, and of a port
  // with tunnels, which have other addresses outside, it is not asked. The reason is in *why. Lowers the path's MTU to
  // what the way carries.
  int use(wire::Path* path, Why* why = nullptr) const;
  // … or a listener's address, or that of a request for a connection.
  int use(const wire::Gid& source) const { return transmitter_ == nullptr ? 0 : transmitter_->use(source); }
  // The payload of packets that the way from `source` to `destination` carries, at most the active MTU.
  ibv_mtu path_mtu(const wire::Gid& source, const wire::Gid& destination) const;
  // The program has asked for that entry of the table, and may tell others of it.
  void ask(const wire::Gid& gid);
  // A UD queue pair receives from now on, as on an adapter before its program knows of any peer: at the addresses that
  // the program has asked for, or will.
  void receive_datagrams();
  bool owns(const wire::Gid& gid) const;
  // The frame is to a GID of the table.
  bool is_destination(const wire::FrameView& frame) const {
    for (const wire::Gid& gid : gids_) {
      if (frame.is_to(gid)) return !gid.is_zero();
    }
    return false;
  }
  // The UDP source port of a QP's packets: the link's own, or derived from the flow label or both QP numbers as the
  // kernel does.
  std::uint16_t source_port(std::uint32_t flow_label, std::uint32_t local_qpn, std::uint32_t remote_qpn) const;

  // The open tunnels: packets may arrive through them.
  const std::vector<std::shared_ptr<const wire::Tunnel>>& tunnels() const { return tunnels_; }
  void add_tunnel(std::shared_ptr<const wire::Tunnel> tunnel) { tunnels_.push_back(std::move(tunnel)); }
  void remove_tunnel(const std::shared_ptr<const wire::Tunnel>& tunnel) { std::erase(tunnels_, tunnel); }

  link::Transmitter& transmitter() const { return *transmitter_; }
  link::Transmitter* frames() const { return frames_; }
  const std::vector<wire::Gid>& gids() const { return gids_; }
  GidKind gid_kind(std::size_t index) const { return kinds_[index]; }
  // The first entry from which packets leave, or the last of the table.
  const wire::Gid& first_gid() const;
  ibv_mtu max_mtu() const { return max_mtu_; }
  ibv_mtu active_mtu() const { return active_mtu_; }
  // The longest Ethernet frame, with its addresses, its type and one VLAN tag.
  std::uint32_t frame_limit() const { return ethernet_mtu(active_mtu_) + 18; }

  bool is_up() const { return up_; }
  // Nothing here decides over single packets.
  bool is_plain() const { return up_ && !lost_gids_ && tunnels_.empty(); }
  void set_up(bool up) { up_ = up; }
  void set_mtu(ibv_mtu mtu) { active_mtu_ = mtu; }
  // Into the first empty entry (of the shape kMlx5: entries; `index` is that of RoCE v2). 0, EINVAL for the zero GID,
  // EEXIST, or ENOSPC if the table is full.
  int add_gid(const wire::Gid& gid, std::uint32_t* index);
  // Leaves empty entries. 0, or ENOENT.
  int remove_gid(const wire::Gid& gid);
  // Whether a packet from that GID may leave: the link is up, and the GID was not removed.
  bool may_send(const wire::Gid& sgid) const { return up_ && (!lost_gids_ || owns(sgid)); }

 private:
  // Why the entry of `source` does not reach the peer: another one may.
  Why why_unreachable(const wire::Gid& source, const wire::Gid& destination) const;
  std::size_t take_empty(const wire::Gid& gid, GidKind kind);

  link::Transmitter* transmitter_;
  link::Transmitter* frames_;
  std::vector<wire::Gid> gids_;
  std::vector<GidKind> kinds_;  // of each of them
  std::vector<wire::Gid> asked_;
  GidShape gid_shape_;
  ibv_mtu max_mtu_;
  ibv_mtu active_mtu_;
  std::vector<std::shared_ptr<const wire::Tunnel>> tunnels_;
  bool up_ = true;
  bool strict_ = false;
  bool management_ = false;
  bool datagrams_ = false;
  bool lost_gids_ = false;  // an entry was removed, and objects may still send from it
};

// The ports of a device: what ibv_query_port, ibv_query_gid and ibv_query_pkey report, and what changes while the
// device runs.

// Every call with a port number returns EINVAL if the device has no such port.
class Ports {
 public:
  Ports(const std::vector<PortConfig>& configs, EventSink& events, Counters& counters);

  std::size_t size() const { return ports_.size(); }
  // nullptr: no such port.
  Port* find(std::uint8_t port_num) { return exists(port_num) ? &ports_[port_num - 1] : nullptr; }
  const Port* find(std::uint8_t port_num) const { return exists(port_num) ? &ports_[port_num - 1] : nullptr; }
  Port& operator[](std::uint8_t port_num) { return ports_[port_num - 1]; }
  std::uint64_t number_of(const Port& port) const { return static_cast<std::uint64_t>(&port - ports_.data()) + 1; }

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
