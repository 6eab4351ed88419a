#include "wire/icrc.h"

#include <cstring>

#include "wire/crc32.h"
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
