// The headers of tunnels, field by field.
#pragma once

#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

enum class TunnelKind { kVxlan, kVxlanGpe, kGeneve, kGre, kNvgre, kMplsOverUdp, kMplsOverGre, kGtpU, kIpInIp };

struct TunnelModel {
  TunnelKind kind = TunnelKind::kVxlan;
  bool carries_mac = true;  // VXLAN and NVGRE always, MPLS, GTP-U and IP in IP never
  std::uint64_t dmac = 0, smac = 0;
  std::vector<Tag> tags;
  IpHeader ip;                                                      // the protocol is filled in
  std::uint32_t id = 0;                                             // VNI, key, label or TEID
  std::uint8_t flow_id = 0;                                         // of NVGRE
  bool has_key = true, has_checksum = false, has_sequence = false;  // of GRE
  Bytes options;                                                    // of GENEVE
  bool has_extension = false;  // of GTP-U: a sequence word and one extension header

  bool can_carry_mac() const;
  bool must_carry_mac() const;
  bool is_udp() const;
  // The tunnel's header before a packet of this IP version, or before a MAC header (0). Only GTP-U's has a length.
  Bytes header(int carried_version, std::size_t payload = 0) const;
  // All outer headers around a payload, with this UDP source port and UDP checksum 0. Without lengths: as a program
  // gives them to hardware, with zeros in the fields that hardware fills in.
  Bytes outer(int carried_version, std::uint16_t source_port, std::size_t payload, bool with_lengths) const;
};

}  // namespace verbs::mlx5::steering::test
