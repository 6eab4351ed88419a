#include "steering/headers/checksum_patch.h"

#include <algorithm>

#include "steering/headers/bytes.h"
#include "steering/headers/checksum.h"

namespace verbs::mlx5::steering {

namespace {

bool is_in(std::uint32_t at, std::uint32_t begin, std::uint32_t end) { return at >= begin && at < end; }

// The offset of the transport's checksum; kAbsent if it has none.
std::uint32_t l4_checksum_at(const std::uint8_t* data, const HeaderSet& set) {
  switch (set.transport) {
    case Transport::kTcp:
      return set.l4 + 16u;
    case Transport::kUdp:
      return load16(data + set.l4 + 6) == 0 ? kAbsent : set.l4 + 6u;
    case Transport::kIcmp:
    case Transport::kIcmpV6:
      return set.l4 + 2u;
    default:
      return kAbsent;
  }
}

bool is_in_pseudo_header(const HeaderSet& set, std::uint32_t at) {
  if (set.transport == Transport::kIcmp) return false;
  if (set.ip_version == 4) return is_in(at, set.l3 + 12u, set.l3 + 20u);
  // With a routing header, the pseudo header's destination is not that of the IPv6 header.
  return is_in(at, set.l3 + 8u, set.l3 + (set.final_destination ? 40u : 24u));
}

bool is_in_segment(const std::uint8_t* data, const HeaderSet& set, std::uint32_t at) {
  std::uint32_t end = set.l3_end;
  if (set.transport == Transport::kUdp) end = std::min<std::uint32_t>(end, set.l4 + load16(data + set.l4 + 4));
  return is_in(at, set.l4, end);
}

void correct(std::uint8_t* data, const Layers& layers, std::uint32_t checksum_at, std::uint16_t before,
             std::uint16_t after, bool is_udp) {
  std::uint16_t checksum = checksum_update(load16(data + checksum_at), before, after);
  if (is_udp && checksum == 0) checksum = 0xffff;
  // The checksums of the outer packet cover those of the inner one.
  change_word(data, layers, checksum_at, checksum);
}

void correct_packet(std::uint8_t* data, const Layers& layers, const HeaderSet& set, std::uint32_t at,
                    std::uint16_t before, std::uint16_t after) {
  if (!set.has_ip()) return;
  if (set.ip_version == 4) {
    const std::uint32_t checksum_at = set.l3 + 10u;
    if (at != checksum_at && is_in(at, set.l3, set.l3 + (data[set.l3] & 0xfu) * 4)) {
      correct(data, layers, checksum_at, before, after, false);
    }
  }
  if (set.transport == Transport::kNone) return;
  const std::uint32_t checksum_at = l4_checksum_at(data, set);
  if (checksum_at == kAbsent || at == checksum_at) return;
  if (is_in_pseudo_header(set, at) || is_in_segment(data, set, at)) {
    correct(data, layers, checksum_at, before, after, set.transport == Transport::kUdp);
  }
}

}  // namespace

void change_word(std::uint8_t* data, const Layers& layers, std::uint32_t at, std::uint16_t value) {
  const std::uint16_t before = load16(data + at);
  if (before == value) return;
  store16(data + at, value);
  correct_packet(data, layers, layers.inner, at, before, value);
  correct_packet(data, layers, layers.outer, at, before, value);
  if (layers.gre == kAbsent || (data[layers.gre] & 0x80) == 0) return;
  const std::uint32_t checksum_at = layers.gre + 4u;
  if (at != checksum_at && is_in(at, layers.gre, layers.outer.l3_end)) {
    correct(data, layers, checksum_at, before, value, false);
  }
}

}  // namespace verbs::mlx5::steering
