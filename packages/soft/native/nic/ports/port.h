// A port: its link, its GID table, its MTU, and the way from an address vector to network headers.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "link/link.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

inline constexpr std::uint16_t kDefaultPkey = 0xffff;

// The least length of a GID table: room for addresses that come at run time.
inline constexpr std::size_t kGidTableLength = 16;

class Port {
 public:
  // `gids` are the first entries of the table; `frames` is where Ethernet frames go, or nullptr.
  Port(link::Transmitter* transmitter, std::vector<wire::Gid> gids, ibv_mtu max_mtu, ibv_mtu active_mtu,
       link::Transmitter* frames = nullptr);

  void query(ibv_port_attr* attr) const;
  // 0, or EINVAL: no GRH (is_global must be 1 on RoCE), a GID index outside the table or of an empty entry, a GID that
  // cannot be a destination, or source and destination of different IP versions.
  int resolve(const ibv_ah_attr& attr, wire::Path* path) const;
  bool owns(const wire::Gid& gid) const;
  // The source port of a QP's packets: the link's own, or spread by the numbers of both ends as the kernel does.
  std::uint16_t source_port(std::uint32_t flow_label, std::uint32_t local_qpn, std::uint32_t remote_qpn) const;

  // The tunnels that are listened for (see ingress/arrival.h).
  const std::vector<std::shared_ptr<const wire::Tunnel>>& tunnels() const { return tunnels_; }
  void add_tunnel(std::shared_ptr<const wire::Tunnel> tunnel) { tunnels_.push_back(std::move(tunnel)); }
  void remove_tunnel(const std::shared_ptr<const wire::Tunnel>& tunnel) { std::erase(tunnels_, tunnel); }

  link::Transmitter& transmitter() const { return *transmitter_; }
  link::Transmitter* frames() const { return frames_; }
  const std::vector<wire::Gid>& gids() const { return gids_; }
  ibv_mtu max_mtu() const { return max_mtu_; }
  ibv_mtu active_mtu() const { return active_mtu_; }

  bool is_up() const { return up_; }
  void set_up(bool up) { up_ = up; }
  void set_mtu(ibv_mtu mtu) { active_mtu_ = mtu; }
  // Into the first empty entry. 0, EINVAL for the zero GID, EEXIST, or ENOSPC if the table is full.
  int add_gid(const wire::Gid& gid, std::uint32_t* index);
  // Leaves an empty entry. 0, or ENOENT.
  int remove_gid(const wire::Gid& gid);
  // Whether a packet of that source can leave: the link is up, and the address has not been taken away since.
  bool may_send(const wire::Gid& sgid) const { return up_ && (!lost_gids_ || owns(sgid)); }

 private:
  link::Transmitter* transmitter_;
  link::Transmitter* frames_;
  std::vector<wire::Gid> gids_;
  ibv_mtu max_mtu_;
  ibv_mtu active_mtu_;
  std::vector<std::shared_ptr<const wire::Tunnel>> tunnels_;
  bool up_ = true;
  bool lost_gids_ = false;  // an entry was removed: somebody may still send from it
};

inline std::uint32_t mtu_bytes(ibv_mtu mtu) { return 128u << mtu; }

}  // namespace verbs::soft::nic
