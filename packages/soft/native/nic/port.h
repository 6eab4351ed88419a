// A port: its GID table, its MTU, and the way from an address vector to network headers.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "../link/link.h"
#include "../wire/tunnel.h"

namespace verbs::soft::nic {

inline constexpr std::uint16_t kDefaultPkey = 0xffff;

class Port {
 public:
  Port(link::Transmitter* transmitter, std::vector<wire::Gid> gids, ibv_mtu max_mtu, ibv_mtu active_mtu);

  void query(ibv_port_attr* attr) const;
  // 0, or EINVAL: no GRH (is_global must be 1 on RoCE), a GID index outside the table, a GID that cannot be a
  // destination, or source and destination of different IP versions.
  int resolve(const ibv_ah_attr& attr, wire::Path* path) const;
  bool owns(const wire::Gid& gid) const;
  // The source port of a QP's packets: the link's own, or spread by the numbers of both ends as the kernel does.
  std::uint16_t source_port(std::uint32_t flow_label, std::uint32_t local_qpn, std::uint32_t remote_qpn) const;

  // The tunnels that are listened for (see arrival.h).
  const std::vector<std::shared_ptr<const wire::Tunnel>>& tunnels() const { return tunnels_; }
  void add_tunnel(std::shared_ptr<const wire::Tunnel> tunnel) { tunnels_.push_back(std::move(tunnel)); }
  void remove_tunnel(const std::shared_ptr<const wire::Tunnel>& tunnel) { std::erase(tunnels_, tunnel); }

  link::Transmitter& transmitter() const { return *transmitter_; }
  const std::vector<wire::Gid>& gids() const { return gids_; }
  ibv_mtu active_mtu() const { return active_mtu_; }

 private:
  link::Transmitter* transmitter_;
  std::vector<wire::Gid> gids_;
  ibv_mtu max_mtu_;
  ibv_mtu active_mtu_;
  std::vector<std::shared_ptr<const wire::Tunnel>> tunnels_;
};

inline std::uint32_t mtu_bytes(ibv_mtu mtu) { return 128u << mtu; }

}  // namespace verbs::soft::nic
