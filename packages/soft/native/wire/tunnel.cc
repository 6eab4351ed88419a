#include "wire/tunnel.h"

#include <cstring>

#include "wire/headers.h"

namespace verbs::soft::wire {

std::size_t network_size(const Path& path, const Tunnel* tunnel) {
  if (tunnel == nullptr || tunnel->type == Tunnel::Type::kPlain) return network_size(path);
  return kIpv4Size + (tunnel->type == Tunnel::Type::kUdp ? kUdpSize : 0) + tunnel->header_size;
}

std::size_t write_network(std::uint8_t* frame, const Path& path, const Tunnel* tunnel, std::size_t transport_size) {
  if (tunnel == nullptr) return write_network(frame, path, transport_size);
  Path outer = path;
  if (!tunnel->source.is_zero()) outer.sgid = tunnel->source;
  if (tunnel->type == Tunnel::Type::kPlain) return write_network(frame, outer, transport_size);
  const std::size_t inner_size = tunnel->header_size + transport_size;
  std::size_t at = kIpv4Size;
  if (tunnel->type == Tunnel::Type::kUdp) {
    outer.destination_port = tunnel->udp_port;
    at = write_network(frame, outer, inner_size);
  } else {
    write_ipv4(frame, outer, tunnel->ip_protocol, inner_size);
  }
  std::memcpy(frame + at, tunnel->header.data(), tunnel->header_size);
  return at + tunnel->header_size;
}

std::optional<FrameView> parse_tunnelled(std::span<const std::uint8_t> frame, const Tunnel& tunnel) {
  std::optional<FrameView> view;
  if (tunnel.type == Tunnel::Type::kUdp) {
    view = parse_frame(frame);
    if (view && !view->is_to_port(tunnel.udp_port)) return std::nullopt;
  } else if (tunnel.type == Tunnel::Type::kIpv4) {
    view = parse_ipv4_packet(frame, tunnel.ip_protocol);
  }
  if (!view || view->transport.size() < tunnel.header_size + Bth::kSize + kIcrcSize) return std::nullopt;
  view->tunnel_header = tunnel.header_size;
  view->transport = view->transport.subspan(tunnel.header_size);
  return view;
}

}  // namespace verbs::soft::wire
