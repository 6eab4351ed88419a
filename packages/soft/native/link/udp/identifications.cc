#include "link/udp/identifications.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/identification.h"

namespace verbs::soft::link {
namespace {

// The kernel's soft-RoCE steps by 1 for nearly every packet, and by up to 1000 more a second while it sends nothing.
constexpr std::int64_t kNear = 64;
constexpr std::int64_t kPerSecond = 1000;
constexpr std::uint8_t kZerosOnly = 8;
constexpr std::size_t kSmallest = wire::kIpv4Size + wire::kUdpSize + wire::Bth::kSize + wire::kIcrcSize;

bool within(std::uint16_t a, std::uint16_t b, std::int64_t range) {
  return std::abs(static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b))) <= range;
}

}  // namespace

Identifications::Peer& Identifications::peer_of(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kSource = 12;
  constexpr std::size_t kDestination = 16;
  const auto source = wire::load_be<std::uint32_t>(&frame[kSource]);
  const auto destination = wire::load_be<std::uint32_t>(&frame[kDestination]);
  Peer& peer = peers_[((source ^ (destination * 0x85ebca6bu)) * 0x9e3779b1u) >> 26];
  if (peer.source != source || peer.destination != destination) peer = {.source = source, .destination = destination};
  return peer;
}

bool Identifications::credible(const Peer& peer, std::uint16_t identification, Nanos now) {
  if (peer.has_candidate && within(identification, peer.candidate, kNear)) return true;
  if (peer.zeros >= kZerosOnly) return false;
  if (!peer.known) return true;
  const Nanos idle = std::clamp<Nanos>(now - peer.at, 0, Nanos{60} * 1'000'000'000);
  return within(identification, peer.last, kNear + idle / (Nanos{1'000'000'000} / kPerSecond));
}

void Identifications::restore(std::span<std::uint8_t> frame, Nanos now) {
  // Anyone may send a datagram without room for headers and ICRC, and a damaged length on the wire makes one of a
  // packet.
  if (frame.size() < kSmallest) return;
  if (wire::check_icrc(frame)) {
    Peer& peer = peer_of(frame);
    peer.zeros = static_cast<std::uint8_t>(std::min(peer.zeros + 1, int{kZerosOnly}));
    return;
  }
  const std::optional<std::uint16_t> solved = wire::solve_identification(frame);
  if (!solved) return;
  Peer& peer = peer_of(frame);
  if (!credible(peer, *solved, now)) {
    peer.has_candidate = true;
    peer.candidate = *solved;
    return;
  }
  peer.known = true;
  peer.last = *solved;
  peer.at = now;
  peer.zeros = 0;
  peer.has_candidate = false;
  wire::set_identification(frame, *solved);
}

}  // namespace verbs::soft::link
