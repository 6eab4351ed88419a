// Modify header: a list of set, add and copy operations on header fields and registers, executed in order.
//
// The entries are the PRM's, 8 bytes big-endian each:
//   first word   type 4 (set 1, add 2, copy 3), field 12, reserved 3, offset 5, reserved 3, length 5 (0 means 32)
//   second word  set, add: the value; copy: reserved 4, field 12, reserved 3, offset 5, reserved 8
// In a copy the first word describes the source, the second the destination. Offsets count from the field's least
// significant bit. An add applies to the whole field, modulo its width.
//
// Entries whose source or destination field the frame does not have are skipped. The IPv4, TCP, UDP, ICMPv6 and GRE
// checksums are updated; a UDP checksum of 0 stays 0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

// The fields of modify-header entries: the place and width of each.

struct ModifyField {
  enum class Place : std::uint8_t {
    kMac,        // offset from the MAC header
    kEthertype,  // the ethertype after the last VLAN tag
    kVlan,       // the first tag's TCI
    kIp,         // offset from the IP header, of `ip_version` if it is not 0
    kTcp,        // offset from the TCP header
    kUdp,        // offset from the UDP header
    kGtpu,       // offset from the GTP-U header
    kRegister,   // `offset` is the number: 0 to 7 C, then A and B
  };

  std::uint16_t number;  // the PRM's
  Place place;
  bool inner;
  std::uint8_t ip_version;  // kIp: 4, 6, or 0 for both
  std::uint8_t offset;      // bytes from there to the first byte of the field's `bytes`
  std::uint8_t bytes;       // 1, 2 or 4
  std::uint8_t shift;       // position of the field's least significant bit in those bytes
  std::uint8_t width;       // bits
};

// The `width` least significant bits.
constexpr std::uint32_t ones(std::uint32_t width) { return width >= 32 ? ~0u : (1u << width) - 1; }

// nullptr for an unknown number.
const ModifyField* find_modify_field(std::uint16_t number);

// nullopt if the packet does not have the field.
std::optional<std::uint32_t> read_field(const Packet& packet, const ModifyField& field);
// Writes the bits of `mask` and updates the checksums that cover them. No effect if the packet does not have the field.
void write_field(Packet& packet, const ModifyField& field, std::uint32_t value, std::uint32_t mask);

enum class ModifyProblem : std::uint8_t {
  kNone,
  kSize,   // zero, or not a multiple of 8 bytes
  kType,   // neither set, add nor copy
  kField,  // unknown
  kBits,   // offset and length exceed the field
};

class ModifyHeader {
 public:
  // On failure nullptr, `problem` and the index of the entry. The caller checks how many entries the device accepts.
  static std::shared_ptr<const ModifyHeader> create(std::span<const std::uint8_t> entries, ModifyProblem* problem,
                                                    std::size_t* entry = nullptr);

  std::size_t size() const { return operations_.size(); }
  void apply(Packet& packet) const;

 private:
  enum class Type : std::uint8_t { kSet = 1, kAdd = 2, kCopy = 3 };
  struct Operation {
    Type type;
    std::uint8_t length;  // bits
    std::uint8_t offset;
    std::uint8_t source_offset;  // copy
    const ModifyField* field;
    const ModifyField* source;  // copy
    std::uint32_t value;
  };

  ModifyProblem append(std::uint32_t first, std::uint32_t second);

  std::vector<Operation> operations_;
  bool moves_headers_ = false;  // the frame has to be parsed again
};

}  // namespace verbs::mlx5::steering
