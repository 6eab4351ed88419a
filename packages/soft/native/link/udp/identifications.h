// Restores the IPv4 identifications of packets from foreign peers (wire/identification.h). A peer counts: the solution
// must be near its last one, within a range that grows with the time since then. So a damaged packet passes only if it
// fits one of a few identifications instead of one of 65,536. A peer's first packet is believed. A peer that jumps is
// believed again when two solutions in a row are near each other. A peer that sends 0 every time gets the full check.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "link/link.h"

namespace verbs::soft::link {

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

}  // namespace verbs::soft::link
