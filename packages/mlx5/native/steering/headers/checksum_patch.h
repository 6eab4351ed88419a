// Changing a word of a frame with every checksum that covers it.
#pragma once

#include <cstdint>

#include "steering/headers/layers.h"

namespace verbs::mlx5::steering {

// Writes two bytes at an even distance from the headers and corrects the checksums over them: IPv4's, those of TCP,
// UDP, ICMP and ICMPv6 with their pseudo headers, and GRE's, of the inner and the outer packet. A UDP checksum of 0
// says that there is none, and stays.
void change_word(std::uint8_t* data, const Layers& layers, std::uint32_t at, std::uint16_t value);

}  // namespace verbs::mlx5::steering
