// The fields that modify-header entries name: where each is and how wide.
#pragma once

#include <cstdint>
#include <optional>

#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

struct ModifyField {
  enum class Place : std::uint8_t {
    kMac,        // offset from the MAC header
    kEthertype,  // the ethertype behind the last VLAN tag
    kVlan,       // the first tag's TCI
    kIp,         // offset from an IP header of the named version, or of either
    kTcp,        // offset from the TCP header
    kUdp,        // offset from the UDP header
    kGtpu,       // offset from the GTP-U header
    kRegister,   // `offset` is the number: 0 to 7 C, then A and B
  };

  std::uint16_t number;  // the PRM's
  Place place;
  bool inner;
  std::uint8_t ip_version;  // kIp: 4, 6, or 0 for both
  std::uint8_t offset;      // bytes to the first byte of the `bytes` that hold it
  std::uint8_t bytes;       // 1, 2 or 4
  std::uint8_t shift;       // of the field's least significant bit in those bytes
  std::uint8_t width;       // bits
};

// nullptr: no such field.
const ModifyField* find_modify_field(std::uint16_t number);

// nullopt if the packet has no such field.
std::optional<std::uint32_t> read_field(const Packet& packet, const ModifyField& field);
// Writes the bits of `mask` and corrects the checksums that cover them; nothing happens if there is no such field.
void write_field(Packet& packet, const ModifyField& field, std::uint32_t value, std::uint32_t mask);

}  // namespace verbs::mlx5::steering
