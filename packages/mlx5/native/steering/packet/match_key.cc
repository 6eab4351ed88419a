#include "steering/packet/match_key.h"

#include <bit>
#include <cstring>

#include "steering/headers/bytes.h"
#include "steering/headers/checksum.h"
#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

namespace {

void encode_ip(const std::uint8_t* data, const HeaderSet& set, std::uint8_t* out) {
  const std::uint8_t* ip = data + set.l3;
  out[header::kIpProtocol] = set.ip_protocol;
  if (set.ip_version == 4) {
    out[header::kDscpEcn] = ip[1];
    out[header::kIhlChecks] = static_cast<std::uint8_t>(ip[0] << 4);
    out[header::kTtl] = ip[8];
    std::memcpy(out + header::kSourceIp + 12, ip + 12, 4);
    std::memcpy(out + header::kDestinationIp + 12, ip + 16, 4);
  } else {
    out[header::kDscpEcn] = static_cast<std::uint8_t>(load16(ip) >> 4);
    out[header::kTtl] = ip[7];
    std::memcpy(out + header::kSourceIp, ip + 8, 32);  // both addresses
  }
  out[header::kIhlChecks] |= static_cast<std::uint8_t>((set.l3_ok ? 8 : 0) | (set.l4_ok ? 4 : 0));
}

void encode_checksums(const std::uint8_t* data, const HeaderSet& set, std::uint8_t* out) {
  const ChecksumState sums = check_checksums(data, set);
  out[header::kIhlChecks] |= static_cast<std::uint8_t>((sums.ipv4_ok ? 2 : 0) | (sums.l4_ok ? 1 : 0));
}

void encode_headers(const std::uint8_t* data, const HeaderSet& set, std::uint8_t* out) {
  std::uint32_t flags = 0;  // cvlan_tag 1, svlan_tag 1, frag 1, ip_version 4, tcp_flags 9
  if (set.has_mac()) {
    std::memcpy(out + header::kDmac, data + set.mac, 6);
    std::memcpy(out + header::kSmac, data + set.mac + 6, 6);
  }
  store16(out + header::kEthertype, set.ethertype);
  if (set.vlan[0] != kAbsent) {
    flags |= load16(data + set.vlan[0]) == 0x8100 ? 0x8000u : 0x4000u;
    std::memcpy(out + header::kFirstVlan, data + set.vlan[0] + 2, 2);
  }
  if (set.has_ip()) {
    flags |= (set.fragment ? 0x2000u : 0u) | std::uint32_t{set.ip_version} << 9;
    encode_ip(data, set, out);
  }
  if (set.transport == Transport::kTcp) {
    flags |= load16(data + set.l4 + 12) & 0x1ffu;
    std::memcpy(out + header::kTcpSport, data + set.l4, 4);
  } else if (set.transport == Transport::kUdp) {
    std::memcpy(out + header::kUdpSport, data + set.l4, 4);
  }
  store16(out + header::kFlags, flags);
}

void encode_second_vlans(const std::uint8_t* data, const Layers& layers, std::uint8_t* out) {
  const auto encode = [&](const HeaderSet& set, std::uint32_t at, std::uint8_t cvlan, std::uint8_t svlan) {
    if (set.vlan[1] == kAbsent) return;
    std::memcpy(out + at, data + set.vlan[1] + 2, 2);
    out[misc::kSecondVlanFlags] |= load16(data + set.vlan[1]) == 0x8100 ? cvlan : svlan;
  };
  encode(layers.outer, misc::kOuterSecondVlan, 0x80, 0x20);
  encode(layers.inner, misc::kInnerSecondVlan, 0x40, 0x10);
}

void encode_gre(const std::uint8_t* gre, std::uint8_t* out) {
  const std::uint16_t flags = load16(gre);
  out[misc::kFlags] |= static_cast<std::uint8_t>(
      ((flags & 0x8000) != 0 ? 0x80 : 0) | ((flags & 0x2000) != 0 ? 0x20 : 0) | ((flags & 0x1000) != 0 ? 0x10 : 0));
  std::memcpy(out + misc::kGreProtocol, gre + 2, 2);
  if ((flags & 0x2000) != 0) std::memcpy(out + misc::kGreKey, gre + ((flags & 0x8000) != 0 ? 8 : 4), 4);
}

// The option's data; nullptr without the option.
const std::uint8_t* find_geneve_option(const std::uint8_t* data, const Layers& layers, const GeneveOption& wanted,
                                       bool* exists) {
  *exists = false;
  if (!wanted.configured || layers.tunnel != Tunnel::kGeneve) return nullptr;
  std::uint32_t at = layers.tunnel_header + 8u;
  while (at + 4 <= layers.tunnel_payload) {
    const std::uint32_t length = (data[at + 3] & 0x1fu) * 4;
    if (at + 4 + length > layers.tunnel_payload) return nullptr;
    if (load16(data + at) == wanted.option_class && data[at + 2] == wanted.type) {
      *exists = true;
      return length > 0 ? data + at + 4 : nullptr;
    }
    at += 4 + length;
  }
  return nullptr;
}

void encode_geneve(const std::uint8_t* data, const Layers& layers, const GeneveOption& option, std::uint8_t* out) {
  const std::uint8_t* geneve = data + layers.tunnel_header;
  bool exists = false;
  find_geneve_option(data, layers, option, &exists);
  std::memcpy(out + misc::kGeneveVni, geneve + 4, 3);
  out[misc::kGeneveFlags] = static_cast<std::uint8_t>((exists ? 2 : 0) | geneve[1] >> 7);
  out[misc::kGeneveOptLen] = geneve[0] & 0x3f;
  std::memcpy(out + misc::kGeneveProtocol, geneve + 2, 2);
}

void encode_flow_label(const std::uint8_t* data, const HeaderSet& set, std::uint8_t* out) {
  if (set.ip_version == 6) store32(out, load32(data + set.l3) & 0xfffff);
}

void encode_misc(const Packet& packet, const GeneveOption& option, std::uint8_t* out) {
  const std::uint8_t* data = packet.frame().data;
  const Layers& layers = packet.layers();
  const Origin& origin = packet.origin();
  out[misc::kFlags] = origin.source_vhca_port & 0xf;
  store24(out + misc::kSourceSqn, origin.source_sqn);
  store16(out + misc::kEswitchOwner, origin.source_eswitch_owner);
  store16(out + misc::kSourcePort, origin.source_port);
  encode_second_vlans(data, layers, out);
  if (layers.gre != kAbsent) encode_gre(data + layers.gre, out);
  if (layers.tunnel == Tunnel::kVxlan) std::memcpy(out + misc::kVxlanVni, data + layers.tunnel_header + 4, 3);
  if (layers.tunnel == Tunnel::kGeneve) encode_geneve(data, layers, option, out);
  if (layers.bth != kAbsent) {
    const std::uint8_t* bth = data + layers.bth;
    out[misc::kBthOpcode] = bth[0];
    std::memcpy(out + misc::kBthDestinationQp, bth + 5, 3);
    if ((bth[8] & 0x80) != 0) out[misc::kFlags] |= 0x40;  // an acknowledgement is requested
  }
  encode_flow_label(data, layers.outer, out + misc::kOuterFlowLabel);
  encode_flow_label(data, layers.inner, out + misc::kInnerFlowLabel);
  if (layers.inner.transport == Transport::kEsp) std::memcpy(out + misc::kInnerEspSpi, data + layers.inner.l4, 4);
  if (layers.outer.transport == Transport::kEsp) std::memcpy(out + misc::kOuterEspSpi, data + layers.outer.l4, 4);
}

void encode_misc2(const Packet& packet, std::uint8_t* out) {
  const std::uint8_t* data = packet.frame().data;
  const Layers& layers = packet.layers();
  if (layers.outer.mpls != kAbsent) std::memcpy(out + misc2::kOuterMpls, data + layers.outer.mpls, 4);
  if (layers.inner.mpls != kAbsent) std::memcpy(out + misc2::kInnerMpls, data + layers.inner.mpls, 4);
  if (layers.tunnel_mpls != kAbsent) {
    const std::uint32_t at = layers.gre != kAbsent ? misc2::kMplsOverGre : misc2::kMplsOverUdp;
    std::memcpy(out + at, data + layers.tunnel_mpls, 4);
  }
  const Registers& registers = packet.registers();
  for (std::size_t i = 0; i < 8; ++i) store32(out + misc2::kRegC7 + 4 * (7 - i), registers.c[i]);
  store32(out + misc2::kRegA, registers.a);
  store32(out + misc2::kRegB, registers.b);
}

void encode_tcp(const std::uint8_t* data, const HeaderSet& set, std::uint8_t* sequence, std::uint8_t* acknowledgement) {
  if (set.transport != Transport::kTcp) return;
  std::memcpy(sequence, data + set.l4 + 4, 4);
  std::memcpy(acknowledgement, data + set.l4 + 8, 4);
}

// The parameters have one ICMP field: the outer packet's if it is ICMP, otherwise the inner packet's.
void encode_icmp(const std::uint8_t* data, const Layers& layers, std::uint8_t* out) {
  for (const HeaderSet* set : {&layers.outer, &layers.inner}) {
    const bool is_v4 = set->transport == Transport::kIcmp;
    if (!is_v4 && set->transport != Transport::kIcmpV6) continue;
    const std::uint8_t* icmp = data + set->l4;
    std::memcpy(out + (is_v4 ? misc3::kIcmpData : misc3::kIcmpV6Data), icmp + 4, 4);
    std::memcpy(out + (is_v4 ? misc3::kIcmpType : misc3::kIcmpV6Type), icmp, 2);  // type and code
    return;
  }
}

void encode_gtp(const std::uint8_t* data, const Layers& layers, std::uint8_t* out) {
  const std::uint8_t* gtp = data + layers.tunnel_header;
  out[misc3::kGtpuMessageFlags] = gtp[0];
  out[misc3::kGtpuMessageType] = gtp[1];
  std::memcpy(out + misc3::kGtpuTeid, gtp + 4, 4);
  std::memcpy(out + misc3::kGtpuWord0, gtp, 4);
  if ((gtp[0] & 7) == 0) return;
  std::memcpy(out + misc3::kGtpuWord2, gtp + 8, 4);
  if ((gtp[0] & 4) != 0 && gtp[11] != 0) std::memcpy(out + misc3::kGtpuFirstExtension, gtp + 12, 4);
}

void encode_misc3(const Packet& packet, const GeneveOption& option, std::uint8_t* out) {
  const std::uint8_t* data = packet.frame().data;
  const Layers& layers = packet.layers();
  encode_tcp(data, layers.inner, out + misc3::kInnerTcpSeq, out + misc3::kInnerTcpAck);
  encode_tcp(data, layers.outer, out + misc3::kOuterTcpSeq, out + misc3::kOuterTcpAck);
  if (layers.tunnel == Tunnel::kVxlanGpe) {
    const std::uint8_t* gpe = data + layers.tunnel_header;
    out[misc3::kVxlanGpeFlags] = gpe[0];
    out[misc3::kVxlanGpeNextProtocol] = gpe[3];
    std::memcpy(out + misc3::kVxlanGpeVni, gpe + 4, 3);
  }
  encode_icmp(data, layers, out);
  bool exists = false;
  const std::uint8_t* option_data = find_geneve_option(data, layers, option, &exists);
  if (option_data != nullptr) std::memcpy(out + misc3::kGeneveOption, option_data, 4);
  if (layers.tunnel == Tunnel::kGtpU) encode_gtp(data, layers, out);
}

// The first words after UDP or IP, up to the end of the tunnel's header.
void encode_misc5(const Packet& packet, std::uint8_t* out) {
  const Layers& layers = packet.layers();
  if (layers.tunnel == Tunnel::kNone) return;
  const std::uint32_t size = layers.tunnel_payload - layers.tunnel_header;
  std::memcpy(out + misc5::kTunnelHeader, packet.frame().data + layers.tunnel_header, size < 16 ? size : 16);
}

}  // namespace

void MatchKey::encode(const Packet& packet, SectionMask sections, const GeneveOption& option) {
  const std::uint8_t* data = packet.frame().data;
  for (std::uint32_t left = sections & ((1u << kMatchSections) - 1); left != 0; left &= left - 1) {
    const int index = std::countr_zero(left);
    std::uint8_t* out = bytes_ + static_cast<std::size_t>(index) * kMatchSectionSize;
    std::memset(out, 0, kMatchSectionSize);
    switch (1u << index) {
      case kOuter:
        encode_headers(data, packet.layers().outer, out);
        break;
      case kMisc:
        encode_misc(packet, option, out);
        break;
      case kInner:
        encode_headers(data, packet.layers().inner, out);
        break;
      case kMisc2:
        encode_misc2(packet, out);
        break;
      case kMisc3:
        encode_misc3(packet, option, out);
        break;
      case kMisc5:
        encode_misc5(packet, out);
        break;
      default:  // not parsed: zero in every packet
        break;
    }
  }
  // Adds to the sections filled above or before.
  if ((sections & kOuterChecksums) != 0) encode_checksums(data, packet.layers().outer, bytes_);
  if ((sections & kInnerChecksums) != 0) encode_checksums(data, packet.layers().inner, bytes_ + kInnerSection);
  valid_ = static_cast<SectionMask>(valid_ | sections);
}

}  // namespace verbs::mlx5::steering
