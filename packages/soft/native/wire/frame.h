// A frame is one whole RoCE v2 packet: IPv4 or IPv6 header, UDP header, BTH … payload, pad, ICRC. Links, captures,
// faults and models all handle frames, so that a capture has exactly the bytes that were sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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

// The fields of a packet's network headers.
struct Path {
  Gid sgid;
  Gid dgid;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint32_t flow_label = 0;  // IPv6 only; not in the ICRC
  std::uint16_t source_port = 0xc000;
  std::uint16_t destination_port = kRocePort;
};

// 28 for IPv4, 48 for IPv6 (by dgid).
std::size_t network_size(const Path& path);

// Writes IP and UDP headers for `transport_size` bytes that follow them (BTH to ICRC). IPv4: id 0, DF, right header
// checksum, as an unconnected UDP socket with IP_PMTUDISC_DO sends it; UDP checksum 0. Returns network_size(path).
std::size_t write_network(std::uint8_t* frame, const Path& path, std::size_t transport_size);

// The IPv4 header alone, for `size` bytes of `protocol` that follow it.
void write_ipv4(std::uint8_t* at, const Path& path, std::uint8_t protocol, std::size_t size);
void write_ipv4_checksum(std::uint8_t* at);

// The parts of a frame. Points into the frame.
struct FrameView {
  Path path;
  bool ipv4 = false;
  std::span<const std::uint8_t> ip;         // the IP header, 20 or 40 bytes
  std::span<const std::uint8_t> transport;  // BTH to ICRC, at least 16 bytes
  std::size_t tunnel_header = 0;            // bytes of a tunnel's header in front of it
};

// nullopt unless the frame is IPv4 without options or IPv6 without extension headers, UDP, and its lengths agree.
// Does not check the destination port or the ICRC.
std::optional<FrameView> parse_frame(std::span<const std::uint8_t> frame);

// An IPv4 packet of any protocol, by the same rules; `transport` is everything behind the IP header.
std::optional<FrameView> parse_ipv4_packet(std::span<const std::uint8_t> frame, std::uint8_t protocol);

// The size of the network headers, for links, which do not parse frames: 28 for IPv4 without options, 48 for IPv6, by
// the version field; 0 for any other frame and for one that is shorter.
std::size_t network_size_of(std::span<const std::uint8_t> frame);

// The source and the destination address of a frame for which network_size_of() is not 0.
Gid source_of(std::span<const std::uint8_t> frame);
Gid destination_of(std::span<const std::uint8_t> frame);

}  // namespace verbs::soft::wire
