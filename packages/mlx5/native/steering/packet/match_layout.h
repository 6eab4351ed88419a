// The layout of match parameters (the PRM's fte_match_param): byte offsets, all fields big-endian.
//
// Ten sections of 64 bytes. The engine does not parse the fields of sections 7 to 9, of misc4 (samples of a
// programmable parser) and the MACsec tags of misc5; they are zero in every packet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace verbs::mlx5::steering {

inline constexpr std::uint32_t kMatchSectionSize = 64;
inline constexpr std::uint32_t kMatchSections = 10;
inline constexpr std::uint32_t kMatchSize =
    kMatchSectionSize * kMatchSections;  // 640, the maximum that the engine accepts

// One bit for each section, and two for fields that need a pass over the whole packet.
using SectionMask = std::uint16_t;
enum Section : SectionMask {
  kOuter = 1 << 0,
  kMisc = 1 << 1,
  kInner = 1 << 2,
  kMisc2 = 1 << 3,
  kMisc3 = 1 << 4,
  kMisc4 = 1 << 5,
  kMisc5 = 1 << 6,
  kOuterChecksums = 1 << 10,  // ipv4_checksum_ok and l4_checksum_ok of that section
  kInnerChecksums = 1 << 11,
};
inline constexpr std::uint32_t kInnerSection = 2 * kMatchSectionSize;  // the start of the inner headers

// Offsets inside a section of headers (outer and inner).
namespace header {
inline constexpr std::uint32_t kSmac = 0;        // 6
inline constexpr std::uint32_t kEthertype = 6;   // after the last VLAN tag
inline constexpr std::uint32_t kDmac = 8;        // 6
inline constexpr std::uint32_t kFirstVlan = 14;  // prio 3, cfi 1, vid 12
inline constexpr std::uint32_t kIpProtocol = 16;
inline constexpr std::uint32_t kDscpEcn = 17;  // dscp 6, ecn 2
inline constexpr std::uint32_t kFlags = 18;    // cvlan_tag 1, svlan_tag 1, frag 1, ip_version 4, tcp_flags 9
inline constexpr std::uint32_t kTcpSport = 20;
inline constexpr std::uint32_t kTcpDport = 22;
inline constexpr std::uint32_t kIhlChecks = 26;   // ipv4_ihl 4, l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok
inline constexpr std::uint8_t kChecksumBits = 3;  // of the byte at kIhlChecks
inline constexpr std::uint32_t kTtl = 27;
inline constexpr std::uint32_t kUdpSport = 28;
inline constexpr std::uint32_t kUdpDport = 30;
inline constexpr std::uint32_t kSourceIp = 32;       // 16; IPv4 in the last four
inline constexpr std::uint32_t kDestinationIp = 48;  // 16; IPv4 in the last four
}  // namespace header

// Offsets inside the other sections.
namespace misc {
inline constexpr std::uint32_t kFlags = 0;      // gre_c, bth_a, gre_k, gre_s, source_vhca_port 4
inline constexpr std::uint32_t kSourceSqn = 1;  // 24 bits
inline constexpr std::uint32_t kEswitchOwner = 4;
inline constexpr std::uint32_t kSourcePort = 6;
inline constexpr std::uint32_t kOuterSecondVlan = 8;
inline constexpr std::uint32_t kInnerSecondVlan = 10;
inline constexpr std::uint32_t kSecondVlanFlags = 12;  // outer cvlan, inner cvlan, outer svlan, inner svlan
inline constexpr std::uint32_t kGreProtocol = 14;
inline constexpr std::uint32_t kGreKey = 16;
inline constexpr std::uint32_t kVxlanVni = 20;  // 24 bits
inline constexpr std::uint32_t kBthOpcode = 23;
inline constexpr std::uint32_t kGeneveVni = 24;       // 24 bits
inline constexpr std::uint32_t kGeneveFlags = 27;     // reserved 6, geneve_tlv_option_0_exist, geneve_oam
inline constexpr std::uint32_t kOuterFlowLabel = 28;  // 20 bits in the low end of 32
inline constexpr std::uint32_t kInnerFlowLabel = 32;
inline constexpr std::uint32_t kGeneveOptLen = 37;  // low 6 bits
inline constexpr std::uint32_t kGeneveProtocol = 38;
inline constexpr std::uint32_t kBthDestinationQp = 41;  // 24 bits
inline constexpr std::uint32_t kInnerEspSpi = 44;
inline constexpr std::uint32_t kOuterEspSpi = 48;
}  // namespace misc

namespace misc2 {
inline constexpr std::uint32_t kOuterMpls = 0;  // label 20, exp 3, s 1, ttl 8
inline constexpr std::uint32_t kInnerMpls = 4;
inline constexpr std::uint32_t kMplsOverGre = 8;
inline constexpr std::uint32_t kMplsOverUdp = 12;
inline constexpr std::uint32_t kRegC7 = 16;  // down to register C 0 at 44
inline constexpr std::uint32_t kRegA = 48;
inline constexpr std::uint32_t kRegB = 52;
}  // namespace misc2

namespace misc3 {
inline constexpr std::uint32_t kInnerTcpSeq = 0;
inline constexpr std::uint32_t kOuterTcpSeq = 4;
inline constexpr std::uint32_t kInnerTcpAck = 8;
inline constexpr std::uint32_t kOuterTcpAck = 12;
inline constexpr std::uint32_t kVxlanGpeVni = 17;  // 24 bits
inline constexpr std::uint32_t kVxlanGpeNextProtocol = 20;
inline constexpr std::uint32_t kVxlanGpeFlags = 21;
inline constexpr std::uint32_t kIcmpData = 24;  // the four bytes after the checksum
inline constexpr std::uint32_t kIcmpV6Data = 28;
inline constexpr std::uint32_t kIcmpType = 32;
inline constexpr std::uint32_t kIcmpCode = 33;
inline constexpr std::uint32_t kIcmpV6Type = 34;
inline constexpr std::uint32_t kIcmpV6Code = 35;
inline constexpr std::uint32_t kGeneveOption = 36;  // the first word of the configured option's data
inline constexpr std::uint32_t kGtpuTeid = 40;
inline constexpr std::uint32_t kGtpuMessageType = 44;
inline constexpr std::uint32_t kGtpuMessageFlags = 45;
inline constexpr std::uint32_t kGtpuWord2 = 48;           // sequence, N-PDU, next extension; 0 without E, S and PN
inline constexpr std::uint32_t kGtpuFirstExtension = 52;  // first word of the first extension header
inline constexpr std::uint32_t kGtpuWord0 = 56;
}  // namespace misc3

namespace misc5 {
inline constexpr std::uint32_t kTunnelHeader = 16;  // the first four words of the tunnel's header
}  // namespace misc5

// Copies the sections of a mask that the criteria enable, and zeroes the others.
inline void filter_mask(std::span<const std::uint8_t> given, std::uint8_t criteria,
                        std::span<std::uint8_t, kMatchSize> mask) {
  std::fill(mask.begin(), mask.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t section = i / kMatchSectionSize;
    if (section < 8 && (criteria >> section & 1) != 0) mask[i] = given[i];
  }
}

}  // namespace verbs::mlx5::steering
