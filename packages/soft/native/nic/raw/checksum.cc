#include "nic/raw/checksum.h"

#include "wire/bytes.h"

namespace verbs::soft::nic {
namespace {

using wire::load_be;
using wire::store_be;

constexpr std::uint8_t kTcp = 6, kUdp = 17;

std::uint32_t sum_of(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0) {
  for (; bytes.size() >= 2; bytes = bytes.subspan(2)) sum += load_be<std::uint16_t>(bytes.data());
  return bytes.empty() ? sum : sum + (std::uint32_t{bytes[0]} << 8);
}

std::uint16_t folded(std::uint32_t sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
}

// `addresses` are those of the IP header, source and destination.
void fill_transport(std::span<std::uint8_t> segment, std::uint8_t protocol, std::span<const std::uint8_t> addresses) {
  const std::size_t header = protocol == kTcp ? 20 : 8;
  if ((protocol != kTcp && protocol != kUdp) || segment.size() < header) return;
  std::uint8_t* at = &segment[protocol == kTcp ? 16 : 6];
  store_be<std::uint16_t>(at, 0);
  std::uint16_t sum =
      folded(sum_of(segment, sum_of(addresses) + protocol + static_cast<std::uint32_t>(segment.size())));
  if (protocol == kUdp && sum == 0) sum = 0xffff;  // 0 means that there is none
  store_be(at, sum);
}

void fill_ipv4(std::span<std::uint8_t> packet) {
  constexpr std::size_t kHeader = 20;
  constexpr std::uint16_t kFragment = 0x3fff;  // more fragments, and the offset
  if (packet.size() < kHeader) return;
  const std::size_t header = (packet[0] & 0x0fu) * 4;
  const std::size_t length = load_be<std::uint16_t>(&packet[2]);
  if (packet[0] >> 4 != 4 || header < kHeader || length < header || length > packet.size()) return;
  store_be<std::uint16_t>(&packet[10], 0);
  store_be(&packet[10], folded(sum_of(packet.first(header))));
  if ((load_be<std::uint16_t>(&packet[6]) & kFragment) != 0) return;
  fill_transport(packet.subspan(header, length - header), packet[9], packet.subspan(12, 8));
}

void fill_ipv6(std::span<std::uint8_t> packet) {
  constexpr std::size_t kHeader = 40;
  constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kDestination = 60;
  if (packet.size() < kHeader || packet[0] >> 4 != 6) return;
  const std::size_t length = kHeader + load_be<std::uint16_t>(&packet[4]);
  if (length > packet.size()) return;
  std::uint8_t next = packet[6];
  std::size_t at = kHeader;
  while (next == kHopByHop || next == kRouting || next == kDestination) {
    if (next == kRouting && length - at >= 4 && packet[at + 3] != 0) return;  // its last address is not in the header
    if (length - at < 8) return;
    next = packet[at];
    at += 8 + packet[at + 1] * std::size_t{8};
    if (at > length) return;
  }
  fill_transport(packet.subspan(at, length - at), next, packet.subspan(8, 32));
}

}  // namespace

void fill_checksums(std::span<std::uint8_t> frame) {
  constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd, kVlan = 0x8100, kOuterVlan = 0x88a8;
  std::size_t type = 12;
  for (int tags = 0; tags <= 2 && type + 2 <= frame.size(); ++tags, type += 4) {
    const auto ethertype = load_be<std::uint16_t>(&frame[type]);
    if (ethertype == kIpv4) return fill_ipv4(frame.subspan(type + 2));
    if (ethertype == kIpv6) return fill_ipv6(frame.subspan(type + 2));
    if (ethertype != kVlan && ethertype != kOuterVlan) return;
  }
}

}  // namespace verbs::soft::nic
