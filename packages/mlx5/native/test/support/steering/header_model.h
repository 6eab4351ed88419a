// A frame as named fields, and the bytes of those fields. The tests build headers, lengths and checksums with this
// model, which shares no code with the engine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "test/support/steering/buffer.h"

namespace verbs::mlx5::steering::test {

using Address = std::array<std::uint8_t, 16>;  // IPv4 in the last four bytes

Address ipv4_address(std::uint32_t address);

struct Tag {
  std::uint16_t tpid = 0x8100;
  std::uint16_t tci = 0;
};

struct IpHeader {
  int version = 4;
  std::uint8_t dscp = 0, ecn = 0, ttl = 64, protocol = 0;
  std::uint16_t identification = 0, fragment = 0;  // of IPv4; `fragment` includes the flags
  std::uint32_t flow_label = 0;                    // of IPv6
  Address source = {}, destination = {};
  Bytes options;                         // of IPv4
  std::vector<std::uint8_t> extensions;  // of IPv6: the numbers of headers of 8 bytes each

  // With the correct length and checksum.
  Bytes bytes(const Bytes& payload) const;
};

enum class L4 { kTcp, kUdp, kIcmp, kEsp, kRaw };

struct FrameModel {
  std::uint64_t dmac = 0, smac = 0;
  std::vector<Tag> tags;
  bool is_ip = true;
  std::uint16_t ethertype = 0x88b5;  // unless it is IP
  IpHeader ip;
  L4 l4 = L4::kRaw;
  std::uint16_t source_port = 0, destination_port = 0;
  std::uint32_t sequence = 0, acknowledgement = 0;
  std::uint16_t tcp_flags = 0;  // 9 bits
  bool has_udp_checksum = true;
  Bytes payload;

  std::uint16_t last_ethertype() const { return !is_ip ? ethertype : ip.version == 4 ? 0x0800 : 0x86dd; }
  Bytes mac_bytes() const;     // with VLAN tags and ethertype
  Bytes packet_bytes() const;  // everything after them
  Bytes bytes() const { return mac_bytes() + packet_bytes(); }

 private:
  Bytes segment_bytes() const;
};

Bytes big_endian(std::uint64_t value, int bytes);
// Computed byte by byte.
std::uint16_t internet_checksum(const Bytes& bytes);

}  // namespace verbs::mlx5::steering::test
