#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

Bytes Random::bytes(std::size_t count) {
  Bytes result(count);
  for (auto& byte : result) byte = any<std::uint8_t>();
  return result;
}

Tag Random::tag() { return {one_in(2) ? std::uint16_t{0x8100} : std::uint16_t{0x88a8}, any<std::uint16_t>()}; }

IpHeader Random::ip() {
  IpHeader ip;
  ip.version = one_in(2) ? 4 : 6;
  ip.dscp = any<std::uint8_t>() & 63;
  ip.ecn = any<std::uint8_t>() & 3;
  ip.ttl = any<std::uint8_t>();
  ip.identification = any<std::uint16_t>();
  ip.fragment = one_in(2) ? 0x4000 : 0;  // or DF
  ip.flow_label = any<std::uint32_t>() & 0xfffff;
  for (std::size_t i = ip.version == 4 ? 12 : 0; i < 16; ++i) {
    ip.source[i] = any<std::uint8_t>();
    ip.destination[i] = any<std::uint8_t>();
  }
  return ip;
}

FrameModel Random::frame() {
  FrameModel frame;
  frame.dmac = bits() & 0xffffffffffff;
  frame.smac = bits() & 0xffffffffffff;
  for (std::uint32_t i = one_in(2) ? below(3) : 0; i > 0; --i) frame.tags.push_back(tag());
  frame.payload = bytes(one_in(10) ? 1200 + below(250) : 4 + below(150));
  if (one_in(12)) {
    frame.is_ip = false;
    return frame;
  }
  frame.ip = ip();
  if (frame.ip.version == 4 && one_in(5)) frame.ip.options = Bytes(4 * (1 + below(10)), 1);  // no-operations
  if (frame.ip.version == 6 && one_in(5)) frame.ip.extensions = {0, 60};
  if (frame.ip.version == 6 && one_in(10)) frame.ip.extensions = {60};
  constexpr L4 kKinds[] = {L4::kTcp, L4::kUdp, L4::kUdp, L4::kIcmp, L4::kEsp, L4::kRaw};
  frame.l4 = kKinds[below(6)];
  const std::uint8_t icmp = frame.ip.version == 4 ? 1 : 58;
  constexpr std::uint8_t kUnknown = 253;  // for experiments (RFC 3692)
  frame.ip.protocol = frame.l4 == L4::kTcp    ? 6
                      : frame.l4 == L4::kUdp  ? 17
                      : frame.l4 == L4::kIcmp ? icmp
                      : frame.l4 == L4::kEsp  ? 50
                                              : kUnknown;
  // Not a tunnel's port: these frames are not tunnels.
  frame.source_port = any<std::uint16_t>();
  frame.destination_port = static_cast<std::uint16_t>(10000 + below(50000));
  frame.sequence = any<std::uint32_t>();
  frame.acknowledgement = any<std::uint32_t>();
  frame.tcp_flags = any<std::uint16_t>() & 0x1ff;
  frame.has_udp_checksum = !one_in(4);
  return frame;
}

TunnelModel Random::tunnel() {
  TunnelModel tunnel;
  tunnel.kind = static_cast<TunnelKind>(below(9));
  tunnel.carries_mac = tunnel.must_carry_mac() || (tunnel.can_carry_mac() && one_in(2));
  tunnel.dmac = bits() & 0xffffffffffff;
  tunnel.smac = bits() & 0xffffffffffff;
  if (one_in(4)) tunnel.tags.push_back(tag());
  tunnel.ip = ip();
  tunnel.id = any<std::uint32_t>();
  tunnel.flow_id = one_in(2) ? 0 : any<std::uint8_t>();
  tunnel.has_key = one_in(2);
  tunnel.has_checksum = one_in(8);
  tunnel.has_sequence = one_in(4);
  if (one_in(2)) tunnel.options = from_hex("0102a501") + bytes(4);  // one option of one word
  tunnel.has_extension = one_in(2);
  return tunnel;
}

}  // namespace verbs::mlx5::steering::test
