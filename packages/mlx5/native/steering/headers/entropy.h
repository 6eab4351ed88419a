// The entropy of the outer header after encapsulation: a CRC-16 (polynomial 0x100B) of the inner addresses, protocol
// and ports. The packets of one connection take one path; different connections spread over paths.
#pragma once

#include <cstdint>

#include "steering/headers/parser.h"

namespace verbs::mlx5::steering {

// The hashed fields; absent fields are zero. IPv4 addresses are in the last four bytes.
struct EntropyInput {
  std::uint8_t destination[16] = {};
  std::uint8_t source[16] = {};
  std::uint8_t protocol = 0;
  std::uint16_t destination_port = 0;
  std::uint16_t source_port = 0;
};

std::uint16_t entropy_crc(const EntropyInput& input);
// The entropy of a frame's outermost IP packet, 0 without one. Only TCP and UDP have ports.
std::uint16_t entropy_crc(const std::uint8_t* data, const Layers& layers);

// The device's range of source ports (roce_min_src_udp_port, roce_max_src_udp_port).
struct UdpPortRange {
  std::uint16_t min = 0xc000;
  std::uint16_t max = 0xffff;
};

inline std::uint16_t entropy_udp_port(std::uint16_t crc, const UdpPortRange& range = {}) {
  return static_cast<std::uint16_t>((range.min | crc) & range.max);
}
inline std::uint8_t entropy_flow_id(std::uint16_t crc) { return static_cast<std::uint8_t>(crc); }

}  // namespace verbs::mlx5::steering
