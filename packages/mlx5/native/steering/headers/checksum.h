// The Internet checksum: whole, in parts, and updated after a change of a word.
#pragma once

#include <cstdint>

#include "steering/headers/parser.h"

namespace verbs::mlx5::steering {

// Adds bytes to a running sum, padded with a zero to an even number.
std::uint64_t checksum_add(std::uint64_t sum, const std::uint8_t* data, std::uint32_t size);
// The sum folded to 16 bits, not inverted.
inline std::uint16_t checksum_fold(std::uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}
// The checksum after a change of a word that it covers (RFC 1624).
inline std::uint16_t checksum_update(std::uint16_t checksum, std::uint16_t before, std::uint16_t after) {
  const std::uint32_t sum =
      static_cast<std::uint16_t>(~checksum) + std::uint32_t{static_cast<std::uint16_t>(~before)} + after;
  return static_cast<std::uint16_t>(~checksum_fold(sum));
}

// The checksum state of a received packet, as completions report it and matchers can match it.
struct ChecksumState {
  bool ipv4_ok = false;  // an IPv4 header with a correct checksum
  bool l4_ok =
      false;  // TCP, UDP (also without a checksum), ICMP or ICMPv6 with a correct checksum; false in a fragment
};

ChecksumState check_checksums(const std::uint8_t* data, const HeaderSet& headers);

// Changes a word of a frame and every checksum that covers it.

// Writes two bytes at an even offset within their header and updates the checksums that cover them, of the inner and
// the outer packet: IPv4, TCP, UDP, ICMP and ICMPv6 (with pseudo headers), and GRE. A UDP checksum of 0 means none and
// stays 0.
void change_word(std::uint8_t* data, const Layers& layers, std::uint32_t at, std::uint16_t value);

}  // namespace verbs::mlx5::steering
