// The fields of modify-header entries: the place and width of each.
#pragma once

#include <cstdint>
#include <optional>

#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {

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

}  // namespace verbs::mlx5::steering
