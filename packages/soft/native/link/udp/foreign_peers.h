// The peers that are no software NICs of this project: the kernel's soft-RoCE and adapters. They choose the source
// ports of their packets, and the identifications of IPv4.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "link/link.h"
#include "wire/frame.h"
#include "wire/gid.h"

namespace verbs::soft::link {

// The addresses with the same first `length` bits; IPv4 addresses in their mapped form, with 96 more.
struct Network {
  wire::Gid address;
  std::uint8_t length = 128;

  bool contains(const wire::Gid& gid) const;
  bool operator==(const Network&) const = default;
};

// Which peers are foreign: those of the networks that the configuration names. Or, without any, every host but this one
// where it does not send from the port of a software NIC: what a port says of another host proves nothing, and on this
// one it keeps users apart.
class ForeignPeers {
 public:
  void add(const Network& network) { networks_.push_back(network); }
  // foreign=none
  void close() { closed_ = true; }
  bool are_other_hosts() const { return networks_.empty() && !closed_; }
  bool contains(const wire::Gid& gid) const;
  const std::vector<Network>& networks() const { return networks_; }

 private:
  std::vector<Network> networks_;
  bool closed_ = false;
};

// Restores the IPv4 identifications of packets from foreign peers (wire/identification.h). A peer counts: the solution
// must be near its last one, within a range that grows with the time since then. So a damaged packet passes only if it
// fits one of a few identifications instead of one of 65,536. A peer's first packet is believed. A peer that jumps is
// believed again when two solutions in a row are near each other. A peer that sends 0 every time gets the full check.

class Identifications {
 public:
  // Writes the identification into an IPv4 frame of that peer that was rebuilt with 0. A frame for which none is right
  // or credible stays as it is, and the NIC drops it for its ICRC; so does one that is too short for a packet. `frame`
  // has the headers of IPv4 and UDP, and any bytes behind them.
  void restore(std::span<std::uint8_t> frame, Nanos now);

 private:
  // A kernel counts each destination by itself, so a peer's multicasts have another count than what it sends to this
  // host. Counts share an entry by the hash of their addresses: one that takes it over begins anew.
  static constexpr std::size_t kPeers = 64;
  struct Peer {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint16_t last = 0;
    std::uint16_t candidate = 0;  // a solution that was not credible
    bool known = false;
    bool has_candidate = false;
    std::uint8_t zeros = 0;  // packets in a row with identification 0
    Nanos at = 0;            // of `last`
  };
  Peer& peer_of(std::span<const std::uint8_t> frame);
  static bool credible(const Peer& peer, std::uint16_t identification, Nanos now);

  std::array<Peer, kPeers> peers_;
};

// Which datagrams become frames. A software NIC of this project sends from its own port, and on one machine any user
// may bind the peer's address at another port: so a datagram from another source port is taken from foreign peers only.

class PeerFilter {
 public:
  // `port`: the source port of peers that are not foreign. `foreign` may be nullptr: there are none.
  PeerFilter(std::uint16_t port, std::shared_ptr<const ForeignPeers> foreign)
      : port_(port), foreign_(std::move(foreign)) {}

  // False, and counted, for a frame (or a datagram of several) from a source port that its sender does not have.
  bool admits(const wire::Path& path) {
    if (path.source_port == port_ || is_foreign(path)) return true;
    ++rejected_;
    return false;
  }
  // Completes the header of an admitted frame, which was rebuilt without the fields that a socket does not show. A
  // frame whose ICRC was found right by that needs no second look: kUnsealed.
  FrameForm complete(std::span<std::uint8_t> frame, const wire::Path& path);
  std::uint64_t rejected() const { return rejected_; }

 private:
  bool is_foreign(const wire::Path& path);
  bool is_other_host(const wire::Gid& gid);

  std::uint16_t port_;
  std::shared_ptr<const ForeignPeers> foreign_;
  std::unique_ptr<Identifications> identifications_;  // from the first packet of a foreign peer on
  std::uint64_t rejected_ = 0;
  std::vector<wire::Gid> own_;  // the addresses of this machine, a moment ago
  Nanos own_at_ = 0;
};

}  // namespace verbs::soft::link
