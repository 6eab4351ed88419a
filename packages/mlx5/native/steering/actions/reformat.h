// Packet reformat: taking the headers of a tunnel off, or putting them on.
//
//   kL2TunnelToL2  everything before the inner MAC header goes
//   kL2ToL2Tunnel  the data goes to the front of the frame
//   kL3TunnelToL2  everything before the inner IP header goes, the data (a MAC header) comes in its place
//   kL2ToL3Tunnel  everything before the first IP header goes (MAC and VLAN tags), the data comes in its place
//
// Encapsulation fills in, of the data's outermost headers: the IPv4 total length and header checksum, the IPv6 payload
// length, the UDP length, the UDP source port (entropy), the length of a GTP-U header (no source says whether hardware
// does; a receiver needs it, and no program can give it beforehand), and the flow id of an NVGRE header that leaves it
// 0 (a GRE header with the key bit alone, protocol 0x6558 and a key whose low 8 bits are 0). Nothing else: the UDP
// checksum stays as the data has it, which should be 0, and the inner packet is not touched.
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
  kUnexpectedData,  // kL2TunnelToL2 takes none (callers that ignore it pass none)
  kNoData,
  kOddSize,   // hardware counts words of two bytes
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
  // nullptr and `problem` if such an action cannot be.
  static std::shared_ptr<const Reformat> create(ReformatType type, std::span<const std::uint8_t> data,
                                                const ReformatOptions& options, ReformatProblem* problem);

  ReformatType type() const { return type_; }
  std::span<const std::uint8_t> data() const { return data_; }

  // nullopt: done. Otherwise the frame is to be dropped, for this reason.
  std::optional<DropReason> apply(Packet& packet) const;

 private:
  Reformat(ReformatType type, std::span<const std::uint8_t> data, const ReformatOptions& options);
  void find_fields();
  std::optional<DropReason> decapsulate(Packet& packet) const;
  std::optional<DropReason> encapsulate(Packet& packet) const;

  ReformatType type_;
  std::vector<std::uint8_t> data_;
  ReformatOptions options_;
  // Of encapsulation: what is filled in, as offsets into the data.
  std::uint16_t ip_ = kAbsent;
  std::uint16_t udp_ = kAbsent;
  std::uint16_t gtp_ = kAbsent;
  std::uint16_t nvgre_key_ = kAbsent;
  std::uint8_t ip_version_ = 0;
  std::uint32_t checksum_start_ = 0;  // the sum of the IPv4 header without its length and checksum
};

}  // namespace verbs::mlx5::steering
