// Changes a word of a frame and every checksum that covers it.
#pragma once

#include <cstdint>

#include "steering/headers/layers.h"

namespace verbs::mlx5::steering {

// Writes two bytes at an even offset within their header and updates the checksums that cover them, of the inner and
// the outer packet: IPv4, TCP, UDP, ICMP and ICMPv6 (with pseudo headers), and GRE. A UDP checksum of 0 means none and
// stays 0.
void change_word(std::uint8_t* data, const Layers& layers, std::uint32_t at, std::uint16_t value);

}  // namespace verbs::mlx5::steering
