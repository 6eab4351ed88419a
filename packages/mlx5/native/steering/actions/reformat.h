// Packet reformat: decapsulation and encapsulation.
//
//   kL2TunnelToL2  removes everything before the inner MAC header
//   kL2ToL2Tunnel  adds the data at the front of the frame
//   kL3TunnelToL2  replaces everything before the inner IP header by the data, a MAC header
//   kL2ToL3Tunnel  replaces everything before the first IP header (MAC and VLAN tags) by the data
//
// Encapsulation fills in these fields of the data's outermost headers: the IPv4 total length and header checksum, the
// IPv6 payload length, the UDP length, the UDP source port (entropy), the length of a GTP-U header, and the flow id of
// an NVGRE header that leaves it 0 (a GRE header with only the key bit, protocol 0x6558 and a key whose low 8 bits are
// 0). No source tells whether hardware fills in the GTP-U length; a receiver needs it, and a program cannot know it
// beforehand. The UDP checksum stays as in the data, which should have 0, and the inner packet is not changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "steering/actions/drop_reason.h"
#include "steering/headers/entropy.h"
#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

enum class ReformatType : std::uint8_t { kL2TunnelToL2 = 0, kL2ToL2Tunnel = 1, kL3TunnelToL2 = 2, kL2ToL3Tunnel = 3 };

inline bool is_encap(ReformatType type) {
  return type == ReformatType::kL2ToL2Tunnel || type == ReformatType::kL2ToL3Tunnel;
}

enum class ReformatProblem : std::uint8_t {
  kNone,
  kUnexpectedData,  // kL2TunnelToL2 has no data
  kNoData,
  kOddSize,   // hardware needs an even number of bytes
  kTooLarge,  // more than options.max_size
  kNotMac,    // kL3TunnelToL2: neither 14 nor 18 bytes
};

struct ReformatOptions {
  std::uint32_t max_size = 128;
  UdpPortRange udp_ports;
  bool gre_entropy = true;
};

class Reformat {
 public:
  // nullptr and `problem` if the data is invalid for the type.
  static std::shared_ptr<const Reformat> create(ReformatType type, std::span<const std::uint8_t> data,
                                                const ReformatOptions& options, ReformatProblem* problem);

  ReformatType type() const { return type_; }
  std::span<const std::uint8_t> data() const { return data_; }

  // nullopt on success, otherwise the reason to drop the frame.
  std::optional<DropReason> apply(Packet& packet) const;

 private:
  Reformat(ReformatType type, std::span<const std::uint8_t> data, const ReformatOptions& options);
  void find_fields();
  std::optional<DropReason> decapsulate(Packet& packet) const;
  std::optional<DropReason> encapsulate(Packet& packet) const;

  ReformatType type_;
  std::vector<std::uint8_t> data_;
  ReformatOptions options_;
  // Offsets in the data of the headers whose fields encapsulation fills in.
  std::uint16_t ip_ = kAbsent;
  std::uint16_t udp_ = kAbsent;
  std::uint16_t gtp_ = kAbsent;
  std::uint16_t nvgre_key_ = kAbsent;
  std::uint8_t ip_version_ = 0;
  std::uint32_t checksum_start_ = 0;  // the sum of the IPv4 header without its length and checksum
};

}  // namespace verbs::mlx5::steering
