#include "wire/icrc.h"

#include <array>
#include <cstring>

#include "wire/frame.h"
#include "wire/headers.h"

namespace verbs::soft::wire {
namespace {

// The CRC register after eight 0xff bytes, which replace the local route header that RoCE v2 does not have.
constexpr std::uint32_t kSeed = 0xdebb20e3;

// Only the headers with variant fields are copied, to set those fields to ones; the payload is read in place.
constexpr std::size_t kMaxMasked = kMaxNetworkSize + Bth::kSize;

std::size_t mask_ipv4(std::uint8_t* ip) {
  ip[1] = 0xff;            // type of service
  ip[8] = 0xff;            // time to live
  ip[10] = ip[11] = 0xff;  // header checksum
  return kIpv4Size;
}

std::size_t mask_ipv6(std::uint8_t* ip) {
  ip[0] |= 0x0f;  // traffic class, flow label
  ip[1] = ip[2] = ip[3] = 0xff;
  ip[7] = 0xff;  // hop limit
  return kIpv6Size;
}

void store_le(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value);
  at[1] = static_cast<std::uint8_t>(value >> 8);
  at[2] = static_cast<std::uint8_t>(value >> 16);
  at[3] = static_cast<std::uint8_t>(value >> 24);
}

}  // namespace

std::uint32_t icrc(std::span<const std::uint8_t> frame, std::size_t network, std::size_t tunnel) {
  std::uint8_t masked[kMaxMasked];
  std::memcpy(masked, frame.data(), network);
  std::memcpy(masked + network, frame.data() + network + tunnel, Bth::kSize);
  const std::size_t ip = frame[0] >> 4 == 4 ? mask_ipv4(masked) : mask_ipv6(masked);
  if (network == ip + kUdpSize) masked[ip + 6] = masked[ip + 7] = 0xff;  // checksum
  masked[network + 4] = 0xff;                                            // BTH: FECN, BECN and reserved bits
  const std::uint32_t crc = crc32_update(kSeed, masked, network + Bth::kSize);
  const std::size_t rest = network + tunnel + Bth::kSize;
  return ~crc32_update(crc, frame.data() + rest, frame.size() - rest - kIcrcSize);
}

std::uint32_t icrc(std::span<const std::uint8_t> frame) { return icrc(frame, network_size_of(frame), 0); }

void seal_icrc(std::span<std::uint8_t> frame, std::size_t network, std::size_t tunnel) {
  store_le(&frame[frame.size() - kIcrcSize], icrc(frame, network, tunnel));
}

void seal_icrc(std::span<std::uint8_t> frame) { seal_icrc(frame, network_size_of(frame), 0); }

bool check_icrc(std::span<const std::uint8_t> frame, std::size_t network, std::size_t tunnel) {
  std::uint8_t expected[kIcrcSize];
  store_le(expected, icrc(frame, network, tunnel));
  return std::memcmp(expected, &frame[frame.size() - kIcrcSize], kIcrcSize) == 0;
}

bool check_icrc(std::span<const std::uint8_t> frame) { return check_icrc(frame, network_size_of(frame), 0); }

}  // namespace verbs::soft::wire

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace verbs::soft::wire {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320;  // bit-reflected: bit 31 is x^0

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[n][b]: the register after byte b and n zero bytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t n = 1; n < 8; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[n - 1][byte];
      tables[n][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t load_le32(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
         static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

#if defined(__x86_64__)

// x^n modulo the polynomial, bit-reflected in 32 bits and shifted up by one: the form in which a carry-less product of
// two reflected numbers comes out aligned.
constexpr std::uint64_t fold_constant(unsigned n) {
  std::uint32_t value = 0x80000000;  // x^0
  for (unsigned i = 0; i < n; ++i) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
  return static_cast<std::uint64_t>(value) << 1;
}

// The pair that moves a 128-bit remainder `bits` further along the message: low half first.
struct FoldPair {
  std::uint64_t low, high;
};
constexpr FoldPair fold_by(unsigned bits) { return {fold_constant(bits + 32), fold_constant(bits - 32)}; }
constexpr FoldPair kFold2048 = fold_by(2048);
constexpr FoldPair kFold512 = fold_by(512);
constexpr FoldPair kFold128 = fold_by(128);

__attribute__((target("pclmul"))) inline __m128i load_pair(const FoldPair& pair) {
  return _mm_set_epi64x(static_cast<long long>(pair.high), static_cast<long long>(pair.low));
}

__attribute__((target("pclmul"))) inline __m128i load_block(const std::uint8_t* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

__attribute__((target("pclmul"))) inline __m128i fold(__m128i remainder, __m128i pair, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(remainder, pair, 0x00);
  const __m128i high = _mm_clmulepi64_si128(remainder, pair, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// Folds what is left of whole 16-byte blocks into one block with the same remainder; the tables finish that block and
// the rest.
__attribute__((target("pclmul"))) inline std::uint32_t finish(__m128i remainder, const std::uint8_t* data,
                                                              std::size_t size) {
  const __m128i by_one = load_pair(kFold128);
  for (; size >= 16; data += 16, size -= 16) remainder = fold(remainder, by_one, load_block(data));
  alignas(16) std::uint8_t block[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(block), remainder);
  return crc32_update_portable(crc32_update_portable(0, block, sizeof block), data, size);
}

// `size` is at least 16.
__attribute__((target("pclmul"))) std::uint32_t update_clmul(std::uint32_t crc, const std::uint8_t* data,
                                                             std::size_t size) {
  const __m128i by_one = load_pair(kFold128);
  __m128i a = _mm_xor_si128(load_block(data), _mm_cvtsi32_si128(static_cast<int>(crc)));
  if (size < 64) return finish(a, data + 16, size - 16);
  const __m128i by_four = load_pair(kFold512);
  __m128i b = load_block(data + 16), c = load_block(data + 32), d = load_block(data + 48);
  data += 64;
  size -= 64;
  for (; size >= 64; data += 64, size -= 64) {
    a = fold(a, by_four, load_block(data));
    b = fold(b, by_four, load_block(data + 16));
    c = fold(c, by_four, load_block(data + 32));
    d = fold(d, by_four, load_block(data + 48));
  }
  return finish(fold(fold(fold(a, by_one, b), by_one, c), by_one, d), data, size);
}

// The same with four blocks in each register.
#define VERBS_WIDE __attribute__((target("pclmul,avx512f,vpclmulqdq")))

VERBS_WIDE inline __m512i load_wide_pair(const FoldPair& pair) {
  const auto low = static_cast<long long>(pair.low), high = static_cast<long long>(pair.high);
  return _mm512_set4_epi64(high, low, high, low);
}

VERBS_WIDE inline __m512i load_wide(const std::uint8_t* at) { return _mm512_loadu_si512(at); }

VERBS_WIDE inline __m512i fold_wide(__m512i remainder, __m512i pair, __m512i next) {
  const __m512i low = _mm512_clmulepi64_epi128(remainder, pair, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(remainder, pair, 0x11);
  return _mm512_xor_si512(_mm512_xor_si512(low, high), next);
}

constexpr std::size_t kWide = 256;

// `size` is at least kWide.
VERBS_WIDE std::uint32_t update_wide(std::uint32_t crc, const std::uint8_t* data, std::size_t size) {
  const __m512i first = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc)));
  __m512i a = _mm512_xor_si512(load_wide(data), first);
  __m512i b = load_wide(data + 64), c = load_wide(data + 128), d = load_wide(data + 192);
  data += kWide;
  size -= kWide;
  const __m512i by_sixteen = load_wide_pair(kFold2048);
  for (; size >= kWide; data += kWide, size -= kWide) {
    a = fold_wide(a, by_sixteen, load_wide(data));
    b = fold_wide(b, by_sixteen, load_wide(data + 64));
    c = fold_wide(c, by_sixteen, load_wide(data + 128));
    d = fold_wide(d, by_sixteen, load_wide(data + 192));
  }
  const __m512i by_four = load_wide_pair(kFold512);
  a = fold_wide(fold_wide(fold_wide(a, by_four, b), by_four, c), by_four, d);
  for (; size >= 64; data += 64, size -= 64) a = fold_wide(a, by_four, load_wide(data));
  alignas(64) std::uint8_t blocks[64];
  _mm512_store_si512(blocks, a);
  const __m128i by_one = load_pair(kFold128);
  __m128i remainder = load_block(blocks);
  for (int i = 1; i < 4; ++i) remainder = fold(remainder, by_one, load_block(blocks + 16 * i));
  return finish(remainder, data, size);
}

#undef VERBS_WIDE

bool has_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("pclmul");
}

#endif

}  // namespace

std::uint32_t crc32_update_portable(std::uint32_t crc, const std::uint8_t* data, std::size_t size) {
  for (; size >= 8; data += 8, size -= 8) {
    const std::uint32_t low = crc ^ load_le32(data);
    const std::uint32_t high = load_le32(data + 4);
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^ kTables[4][low >> 24] ^
          kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^ kTables[1][high >> 16 & 0xff] ^
          kTables[0][high >> 24];
  }
  for (; size > 0; ++data, --size) crc = crc >> 8 ^ kTables[0][(crc ^ *data) & 0xff];
  return crc;
}

std::uint32_t crc32_update(std::uint32_t crc, const std::uint8_t* data, std::size_t size) {
#if defined(__x86_64__)
  // Loads and bit tests: the CPU's features are read once, before main().
  if (size >= kWide && has_wide()) return update_wide(crc, data, size);
  if (size >= 16 && __builtin_cpu_supports("pclmul")) return update_clmul(crc, data, size);
#endif
  return crc32_update_portable(crc, data, size);
}

}  // namespace verbs::soft::wire
