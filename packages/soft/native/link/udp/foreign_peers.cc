#include "link/udp/foreign_peers.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "link/udp/host_addresses.h"
#include "link/udp/transmit_batch.h"
#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/identification.h"

namespace verbs::soft::link {

bool Network::contains(const wire::Gid& gid) const {
  const std::size_t whole = length / 8;
  if (std::memcmp(gid.bytes.data(), address.bytes.data(), whole) != 0) return false;
  const unsigned rest = length % 8;
  return rest == 0 || (gid.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

bool ForeignPeers::contains(const wire::Gid& gid) const {
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) { return network.contains(gid); });
}

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

namespace {

Nanos time_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// A segment of a joined datagram of one of our own NICs is sealed for its number in it (transmit_batch.h). The socket
// does not show which that was: it may come alone or, joined again, at another place.
FrameForm restore_number(std::span<std::uint8_t> frame) {
  const std::optional<std::uint16_t> number = wire::solve_identification(frame);
  if (!number || *number >= TransmitBatch::kMostSegments) return FrameForm::kSealed;
  if (*number != 0) wire::set_identification(frame, *number);
  return FrameForm::kUnsealed;
}

}  // namespace

bool PeerFilter::is_foreign(const wire::Path& path) {
  if (!foreign_) return false;
  if (!foreign_->are_other_hosts()) return foreign_->contains(path.sgid);
  return path.source_port != port_ && is_other_host(path.sgid);
}

// An address that this machine has just got may be another user's at another port: for a second, and then no more. One
// look a second, whatever comes.
bool PeerFilter::is_other_host(const wire::Gid& gid) {
  constexpr Nanos kSecond = 1'000'000'000;
  if (is_loopback(gid)) return false;
  const Nanos now = time_now();
  if (own_.empty() || now - own_at_ > kSecond) {
    own_.clear();
    for (const auto& [address, interface] : interface_addresses()) own_.push_back(address);
    own_at_ = now;
  }
  // Without a list there is no telling them apart.
  return !own_.empty() && std::ranges::find(own_, gid) == own_.end();
}

FrameForm PeerFilter::complete(std::span<std::uint8_t> frame, const wire::Path& path) {
  if (!path.sgid.is_ipv4()) return FrameForm::kSealed;
  if (!is_foreign(path)) {
    // Datagrams between loopback addresses are not split, and keep identification 0.
    return is_loopback(path.sgid) ? FrameForm::kSealed : restore_number(frame);
  }
  if (!identifications_) identifications_ = std::make_unique<Identifications>();
  identifications_->restore(frame, time_now());
  return FrameForm::kSealed;
}

}  // namespace verbs::soft::link
