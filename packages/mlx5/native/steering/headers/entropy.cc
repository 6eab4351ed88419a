#include "steering/headers/entropy.h"

#include <array>
#include <cstring>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::steering {

namespace {

constexpr std::size_t kInputSize = 37;
constexpr std::uint16_t kPolynomial = 0x100b;

constexpr std::uint16_t crc_step(std::uint16_t crc, std::uint8_t byte) {
  crc = static_cast<std::uint16_t>(crc ^ byte << 8);
  for (int bit = 0; bit < 8; ++bit) {
    crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? crc << 1 ^ kPolynomial : crc << 1);
  }
  return crc;
}

// A CRC with start value 0 is linear: each byte's contribution depends on its value and position only, and a zero byte
// contributes nothing. So the table look-ups are independent of each other, and IPv4's 24 zero bytes are skipped.
using Contributions = std::array<std::array<std::uint16_t, 256>, kInputSize>;

constexpr Contributions make_contributions() {
  Contributions table{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::uint16_t crc = crc_step(0, static_cast<std::uint8_t>(byte));
    for (std::size_t place = kInputSize; place-- > 0;) {
      table[place][byte] = crc;
      crc = crc_step(crc, 0);
    }
  }
  return table;
}

constexpr Contributions kContributions = make_contributions();

constexpr std::size_t kDestination = 0, kSource = 16, kProtocol = 32, kDestinationPort = 33, kSourcePort = 35;

std::uint16_t crc_of(const std::uint8_t* bytes, std::size_t count, std::size_t place) {
  std::uint16_t crc = 0;
  for (std::size_t i = 0; i < count; ++i) crc ^= kContributions[place + i][bytes[i]];
  return crc;
}

std::uint16_t crc_of_port(std::uint16_t port, std::size_t place) {
  return static_cast<std::uint16_t>(kContributions[place][port >> 8] ^ kContributions[place + 1][port & 0xff]);
}

}  // namespace

std::uint16_t entropy_crc(const EntropyInput& input) {
  return static_cast<std::uint16_t>(
      crc_of(input.destination, sizeof input.destination, kDestination) ^
      crc_of(input.source, sizeof input.source, kSource) ^ crc_of(&input.protocol, 1, kProtocol) ^
      crc_of_port(input.destination_port, kDestinationPort) ^ crc_of_port(input.source_port, kSourcePort));
}

std::uint16_t entropy_crc(const std::uint8_t* data, const Layers& layers) {
  const HeaderSet& outer = layers.outer;
  if (!outer.has_ip()) return 0;
  const std::uint8_t* ip = data + outer.l3;
  std::uint16_t crc = crc_of(&outer.ip_protocol, 1, kProtocol);
  if (outer.ip_version == 4) {
    crc ^= crc_of(ip + 16, 4, kDestination + 12) ^ crc_of(ip + 12, 4, kSource + 12);
  } else {
    crc ^= crc_of(ip + 24, 16, kDestination) ^ crc_of(ip + 8, 16, kSource);
  }
  if (outer.transport == Transport::kTcp || outer.transport == Transport::kUdp) {
    const std::uint8_t* l4 = data + outer.l4;
    crc ^= crc_of(l4 + 2, 2, kDestinationPort) ^ crc_of(l4, 2, kSourcePort);
  }
  return crc;
}

}  // namespace verbs::mlx5::steering
