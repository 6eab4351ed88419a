#include "test/support/steering/tunnel_model.h"

namespace verbs::mlx5::steering::test {

namespace {

std::uint16_t udp_port_of(TunnelKind kind) {
  switch (kind) {
    case TunnelKind::kVxlan:
      return 4789;
    case TunnelKind::kVxlanGpe:
      return 4790;
    case TunnelKind::kGeneve:
      return 6081;
    case TunnelKind::kMplsOverUdp:
      return 6635;
    case TunnelKind::kGtpU:
      return 2152;
    default:
      return 0;
  }
}

std::uint16_t ethertype_of(int carried_version) {
  return carried_version == 0 ? 0x6558 : carried_version == 4 ? 0x0800 : 0x86dd;
}

}  // namespace

bool TunnelModel::can_carry_mac() const {
  return kind == TunnelKind::kVxlan || kind == TunnelKind::kVxlanGpe || kind == TunnelKind::kGeneve ||
         kind == TunnelKind::kGre || kind == TunnelKind::kNvgre;
}

bool TunnelModel::must_carry_mac() const { return kind == TunnelKind::kVxlan || kind == TunnelKind::kNvgre; }

bool TunnelModel::is_udp() const { return udp_port_of(kind) != 0; }

Bytes TunnelModel::header(int carried_version, std::size_t payload) const {
  const Bytes ethertype = big_endian(ethertype_of(carried_version), 2);
  const Bytes label = big_endian(std::uint64_t{id & 0xfffff} << 12 | 0x140, 4);  // bottom of the stack, time to live 64
  switch (kind) {
    case TunnelKind::kVxlan:
      return from_hex("08000000") + big_endian(id & 0xffffff, 3) + Bytes(1);
    case TunnelKind::kVxlanGpe: {
      const std::uint8_t next = carried_version == 0 ? 3 : carried_version == 4 ? 1 : 2;
      return Bytes{0x0c, 0, 0, next} + big_endian(id & 0xffffff, 3) + Bytes(1);
    }
    case TunnelKind::kGeneve:
      return big_endian(options.size() / 4, 1) + Bytes(1) + ethertype + big_endian(id & 0xffffff, 3) + Bytes(1) +
             options;
    case TunnelKind::kGre:
      return big_endian((has_checksum ? 0x80u : 0) + (has_key ? 0x20u : 0) + (has_sequence ? 0x10u : 0), 1) + Bytes(1) +
             ethertype + Bytes(has_checksum ? 4 : 0) + (has_key ? big_endian(id, 4) : Bytes{}) +
             Bytes(has_sequence ? 4 : 0, 7);
    case TunnelKind::kNvgre:
      return from_hex("20006558") + big_endian(id & 0xffffff, 3) + Bytes{flow_id};
    case TunnelKind::kMplsOverUdp:
      return label;
    case TunnelKind::kMplsOverGre:
      return from_hex("00008847") + label;
    case TunnelKind::kGtpU: {
      // The extension: one word of PDU session container, then the end.
      const Bytes extension = has_extension ? from_hex("00000085 01100100") : Bytes{};
      const Bytes length = big_endian(payload == 0 ? 0 : extension.size() + payload, 2);
      return Bytes{has_extension ? std::uint8_t{0x34} : std::uint8_t{0x30}, 0xff} + length + big_endian(id, 4) +
             extension;
    }
    case TunnelKind::kIpInIp:
      return {};
  }
  return {};
}

Bytes TunnelModel::outer(int carried_version, std::uint16_t source_port, std::size_t payload, bool with_lengths) const {
  FrameModel frame;
  frame.dmac = dmac;
  frame.smac = smac;
  frame.tags = tags;
  frame.ip = ip;
  frame.ip.protocol = is_udp() ? 17 : kind == TunnelKind::kIpInIp ? (carried_version == 4 ? 4 : 41) : 47;
  Bytes segment = header(carried_version, with_lengths ? payload : 0);
  if (is_udp()) {
    const std::size_t length = with_lengths ? 8 + segment.size() + payload : 0;
    segment = big_endian(with_lengths ? source_port : 0, 2) + big_endian(udp_port_of(kind), 2) + big_endian(length, 2) +
              Bytes(2) + segment;
  }
  // Lengths and the checksum include the payload.
  Bytes packet = frame.ip.bytes(segment + Bytes(payload));
  packet.erase(packet.end() - static_cast<std::ptrdiff_t>(payload), packet.end());
  if (!with_lengths) {
    const std::size_t length_at = ip.version == 4 ? 2 : 4;
    packet[length_at] = packet[length_at + 1] = 0;
    if (ip.version == 4) packet[10] = packet[11] = 0;
  }
  frame.is_ip = true;
  return frame.mac_bytes() + packet;
}

}  // namespace verbs::mlx5::steering::test
