#include "wire/identification.h"

#include <array>

#include "wire/bytes.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"

namespace verbs::soft::wire {
namespace {

// Polynomials modulo the one of the CRC, bit-reflected: bit 31 is the coefficient of x^0.
constexpr std::uint32_t kCrcPolynomial = 0xedb88320;
constexpr std::uint32_t kOne = 0x80000000;

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t coefficient = kOne; coefficient != 0; coefficient >>= 1) {
    product ^= b & (0u - ((a & coefficient) != 0));
    b = b >> 1 ^ (kCrcPolynomial & (0u - (b & 1)));  // times x
  }
  return product;
}

constexpr std::uint32_t divide_by_x(std::uint32_t value) {
  // x^32 and the polynomial are the same, and x^32 divided by x is bit 0.
  return (value & kOne) != 0 ? (value ^ kCrcPolynomial) << 1 | 1 : value << 1;
}

constexpr std::size_t kWord = 4;  // frames of RoCE v2 are whole words: the payload is padded
constexpr std::size_t kPowers = kMaxFrame / kWord;

// powers[n] is x^(-32 n).
std::array<std::uint32_t, kPowers> make_powers() {
  std::uint32_t word = kOne;
  for (int i = 0; i < 32; ++i) word = divide_by_x(word);
  std::array<std::uint32_t, kPowers> powers{};
  powers[0] = kOne;
  for (std::size_t n = 1; n < kPowers; ++n) powers[n] = multiply(powers[n - 1], word);
  return powers;
}

std::uint32_t load_le(const std::uint8_t* at) { return swap_if_little(load_be<std::uint32_t>(at)); }

constexpr std::size_t kIdentificationEnd = 6;

}  // namespace

std::optional<std::uint16_t> solve_identification(std::span<const std::uint8_t> frame) {
  if (frame.size() % kWord != 0 || frame.size() >= kMaxFrame) return std::nullopt;
  if (frame.size() < kIpv4Size + kUdpSize + Bth::kSize + kIcrcSize) return std::nullopt;
  static const std::array<std::uint32_t, kPowers> kPowersOfX = make_powers();
  const std::uint32_t difference = load_le(&frame[frame.size() - kIcrcSize]) ^ icrc(frame);
  // The identification's bytes are a polynomial of degree 15 at most. The bytes behind them and the CRC itself moved it
  // by 8 for each byte; the result is wanted in the lower half.
  constexpr std::size_t kInId = 2;
  const std::size_t moved = frame.size() - kIcrcSize - kIdentificationEnd + kInId;
  const std::uint32_t bytes = multiply(difference, kPowersOfX[moved / kWord]);
  if (bytes >> 16 != 0) return std::nullopt;
  return static_cast<std::uint16_t>(bytes << 8 | bytes >> 8);
}

void set_identification(std::span<std::uint8_t> frame, std::uint16_t identification) {
  store_be(&frame[4], identification);
  write_ipv4_checksum(frame.data());
}

}  // namespace verbs::soft::wire
