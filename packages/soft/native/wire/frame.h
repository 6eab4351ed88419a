// A frame is one whole RoCE v2 packet: IPv4 or IPv6 header, UDP header, BTH … payload, pad, ICRC. Links, captures,
// faults and models all handle frames, so that a capture has exactly the bytes that were sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/bytes.h"
#include "wire/gid.h"

namespace verbs::soft::wire {

inline constexpr std::uint16_t kRocePort = 4791;
inline constexpr std::size_t kIpv4Size = 20;
inline constexpr std::size_t kIpv6Size = 40;
inline constexpr std::size_t kUdpSize = 8;
inline constexpr std::size_t kMaxNetworkSize = kIpv6Size + kUdpSize;
// Largest packet we build: IPv6, UDP, BTH, the largest extended headers, MTU 4096, pad, ICRC, and room for a model's
// tunnel header.
inline constexpr std::size_t kMaxFrame = 4096 + 512;

// The checksum of an IPv4 header whose words (of 16 or of 32 bits) add up to `sum`.
inline std::uint16_t checksum_of(std::uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~((sum & 0xffff) + (sum >> 16)));
}

// The fields of a packet's network headers.
struct Path {
  Gid sgid;
  Gid dgid;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint32_t flow_label = 0;  // IPv6 only; not in the ICRC
  std::uint16_t source_port = 0xc000;
  std::uint16_t destination_port = kRocePort;
  std::uint16_t mtu = 4096;  // payload bytes of a packet that the way carries, where somebody has asked
};

// 28 for IPv4, 48 for IPv6 (by dgid).
std::size_t network_size(const Path& path);

// Writes IP and UDP headers for `transport_size` bytes that follow them (BTH to ICRC). IPv4: id 0, DF, right header
// checksum, as an unconnected UDP socket with IP_PMTUDISC_DO sends it; UDP checksum 0. Returns network_size(path).
std::size_t write_network(std::uint8_t* frame, const Path& path, std::size_t transport_size);

// The network headers of a path without a tunnel, made once for packets that differ in their lengths only.
class NetworkHeaders {
 public:
  NetworkHeaders() = default;
  explicit NetworkHeaders(const Path& path);

  std::size_t size() const { return size_; }
  // As write_network().
  void write(std::uint8_t* frame, std::size_t transport_size) const {
    const auto udp_size = static_cast<std::uint32_t>(kUdpSize + transport_size);
    if (size_ != kIpv4Size + kUdpSize) {
      std::memcpy(frame, bytes_.data(), kIpv6Size + kUdpSize);
      store_be(frame + 4, static_cast<std::uint16_t>(udp_size));
      store_be(frame + kIpv6Size + 4, static_cast<std::uint16_t>(udp_size));
      return;
    }
    std::memcpy(frame, bytes_.data(), kIpv4Size + kUdpSize);
    store_be(frame + 2, static_cast<std::uint16_t>(kIpv4Size + udp_size));
    store_be(frame + 10, checksum_of(sum_ + kIpv4Size + udp_size));
    store_be(frame + kIpv4Size + 4, static_cast<std::uint16_t>(udp_size));
  }

 private:
  std::array<std::uint8_t, kMaxNetworkSize> bytes_{};
  std::uint32_t size_ = 0;
  std::uint32_t sum_ = 0;  // IPv4: of the header's words, without its total length
};

// The IPv4 header alone, for `size` bytes of `protocol` that follow it.
void write_ipv4(std::uint8_t* at, const Path& path, std::uint8_t protocol, std::size_t size);
void write_ipv4_checksum(std::uint8_t* at);

// The parts of a frame. Points into the frame.
struct FrameView {
  bool ipv4 = false;
  std::span<const std::uint8_t> ip;         // the IP header, 20 or 40 bytes
  const std::uint8_t* udp = nullptr;        // the UDP header; nullptr: there is none
  std::span<const std::uint8_t> transport;  // BTH to ICRC, at least 16 bytes
  std::size_t tunnel_header = 0;            // bytes of a tunnel's header in front of it

  bool is_from(const Gid& gid) const { return gid.is_address(&ip[ipv4 ? 12 : 8], ipv4); }
  bool is_to(const Gid& gid) const { return gid.is_address(&ip[ipv4 ? 16 : 24], ipv4); }
  bool is_to_group() const { return ipv4 ? (ip[16] & 0xf0) == 0xe0 : destination().is_multicast(); }
  Gid source() const { return ipv4 ? Gid::from_ipv4(&ip[12]) : Gid::from_bytes(&ip[8]); }
  Gid destination() const { return ipv4 ? Gid::from_ipv4(&ip[16]) : Gid::from_bytes(&ip[24]); }
  bool is_to_port(std::uint16_t port) const { return udp != nullptr && load_be<std::uint16_t>(udp + 2) == port; }
  Path path() const;
};

// nullopt unless the frame is IPv4 without options or IPv6 without extension headers, UDP, and its lengths agree.
// Does not check the destination port or the ICRC.
std::optional<FrameView> parse_frame(std::span<const std::uint8_t> frame);

// An IPv4 packet of any protocol, by the same rules; `transport` is everything behind the IP header.
std::optional<FrameView> parse_ipv4_packet(std::span<const std::uint8_t> frame, std::uint8_t protocol);

// The size of the network headers, for links, which do not parse frames: 28 for IPv4 without options, 48 for IPv6, by
// the version field; 0 for any other frame and for one that is shorter.
inline std::size_t network_size_of(std::span<const std::uint8_t> frame) {
  if (frame.empty()) return 0;
  const std::size_t size = frame[0] == 0x45 ? kIpv4Size + kUdpSize : frame[0] >> 4 == 6 ? kIpv6Size + kUdpSize : 0;
  return frame.size() >= size ? size : 0;
}

// The source and the destination address of a frame for which network_size_of() is not 0.
inline Gid source_of(std::span<const std::uint8_t> frame) {
  return frame[0] >> 4 == 4 ? Gid::from_ipv4(&frame[12]) : Gid::from_bytes(&frame[8]);
}
inline Gid destination_of(std::span<const std::uint8_t> frame) {
  return frame[0] >> 4 == 4 ? Gid::from_ipv4(&frame[16]) : Gid::from_bytes(&frame[24]);
}

}  // namespace verbs::soft::wire
