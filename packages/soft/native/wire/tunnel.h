// A tunnel: a header with bytes of the user between the network headers and the BTH of a queue pair's packets.
//
//   kPlain  IP, UDP to port 4791, BTH …              (plain RoCE v2; only the source address may differ)
//   kIpv4   IPv4 with a protocol number, header, BTH …
//   kUdp    IPv4, UDP to a port, header, BTH …
//
// The ICRC of a tunnelled packet covers its (outer) IP and UDP headers and everything from the BTH on, but not
// the tunnel header. Tunnels are for IPv4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/frame.h"

namespace verbs::soft::wire {

struct Tunnel {
  enum class Type : std::uint8_t { kPlain, kIpv4, kUdp };
  static constexpr std::size_t kMaxHeader = 64;

  Type type = Type::kPlain;
  std::uint8_t ip_protocol = 0;  // kIpv4
  std::uint16_t udp_port = 0;    // kUdp
  Gid source;                    // of the outer IP header; all zeros: the path's own
  std::uint8_t header_size = 0;
  std::array<std::uint8_t, kMaxHeader> header = {};
  bool open = true;  // packets of a closed tunnel are dropped

  // Whether both ends have the same kind of tunnel. The bytes of their headers may differ.
  bool agrees_with(const Tunnel& other) const {
    return type == other.type && ip_protocol == other.ip_protocol && udp_port == other.udp_port &&
           header_size == other.header_size;
  }
};

// As the functions of frame.h, for a path with a tunnel (nullptr: without one).
std::size_t network_size(const Path& path, const Tunnel* tunnel);
std::size_t write_network(std::uint8_t* frame, const Path& path, const Tunnel* tunnel, std::size_t transport_size);

// nullopt unless the frame came by such a tunnel (and it is not kPlain). `transport` begins behind the tunnel header.
std::optional<FrameView> parse_tunnelled(std::span<const std::uint8_t> frame, const Tunnel& tunnel);

}  // namespace verbs::soft::wire
