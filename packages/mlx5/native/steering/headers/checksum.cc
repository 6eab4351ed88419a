#include "steering/headers/checksum.h"

#include <algorithm>
#include <cstring>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::steering {

std::uint64_t checksum_add(std::uint64_t sum, const std::uint8_t* data, std::uint32_t size) {
  // Sums four bytes at a time in the processor's byte order, which compilers vectorise. The arithmetic is modulo 2^16 -
  // 1: the halves need not be added separately, and the bytes of the sum can be swapped afterwards.
  std::uint64_t native = 0;
  const std::uint32_t words = size / 4;
  for (std::uint32_t i = 0; i < words; ++i) {
    std::uint32_t word;
    std::memcpy(&word, data + std::size_t{i} * 4, sizeof word);
    native += word;
  }
  data += std::size_t{words} * 4;
  sum += __builtin_bswap16(checksum_fold(native));
  if ((size & 2) != 0) {
    sum += load16(data);
    data += 2;
  }
  if ((size & 1) != 0) sum += static_cast<std::uint32_t>(*data) << 8;
  return sum;
}

namespace {

// The length of the transport header and payload; 0 if they are not all in the frame.
std::uint32_t segment_size(const std::uint8_t* data, const HeaderSet& headers) {
  const std::uint32_t rest = headers.l3_end - headers.l4;
  return headers.transport == Transport::kUdp ? std::min<std::uint32_t>(rest, load16(data + headers.l4 + 4)) : rest;
}

std::uint64_t pseudo_header(const std::uint8_t* data, const HeaderSet& headers, std::uint32_t size) {
  const std::uint8_t* ip = data + headers.l3;
  const std::uint64_t addresses = headers.ip_version == 4 ? checksum_add(0, ip + 12, 8) : checksum_add(0, ip + 8, 32);
  return addresses + headers.ip_protocol + size;
}

bool is_l4_checksum_right(const std::uint8_t* data, const HeaderSet& headers) {
  if (!headers.l3_ok || !headers.l4_ok || headers.fragment || !headers.final_destination) return false;
  const std::uint32_t size = segment_size(data, headers);
  std::uint64_t sum = 0;
  switch (headers.transport) {
    case Transport::kUdp:
      if (load16(data + headers.l4 + 6) == 0) return true;  // none
      [[fallthrough]];
    case Transport::kTcp:
    case Transport::kIcmpV6:
      sum = pseudo_header(data, headers, size);
      break;
    case Transport::kIcmp:
      break;
    default:
      return false;
  }
  return checksum_fold(checksum_add(sum, data + headers.l4, size)) == 0xffff;
}

}  // namespace

ChecksumState check_checksums(const std::uint8_t* data, const HeaderSet& headers) {
  ChecksumState state;
  if (!headers.has_ip()) return state;
  if (headers.ip_version == 4) {
    const std::uint8_t* ip = data + headers.l3;
    state.ipv4_ok = checksum_fold(checksum_add(0, ip, (ip[0] & 0xfu) * 4)) == 0xffff;
  }
  state.l4_ok = headers.transport != Transport::kNone && is_l4_checksum_right(data, headers);
  return state;
}

namespace {

bool is_in(std::uint32_t at, std::uint32_t begin, std::uint32_t end) { return at >= begin && at < end; }

// The offset of the transport's checksum; kAbsent if it has none.
std::uint32_t l4_checksum_at(const std::uint8_t* data, const HeaderSet& set) {
  switch (set.transport) {
    case Transport::kTcp:
      return set.l4 + 16u;
    case Transport::kUdp:
      return load16(data + set.l4 + 6) == 0 ? kAbsent : set.l4 + 6u;
    case Transport::kIcmp:
    case Transport::kIcmpV6:
      return set.l4 + 2u;
    default:
      return kAbsent;
  }
}

bool is_in_pseudo_header(const HeaderSet& set, std::uint32_t at) {
  if (set.transport == Transport::kIcmp) return false;
  if (set.ip_version == 4) return is_in(at, set.l3 + 12u, set.l3 + 20u);
  // With a routing header, the pseudo header's destination is not that of the IPv6 header.
  return is_in(at, set.l3 + 8u, set.l3 + (set.final_destination ? 40u : 24u));
}

bool is_in_segment(const std::uint8_t* data, const HeaderSet& set, std::uint32_t at) {
  std::uint32_t end = set.l3_end;
  if (set.transport == Transport::kUdp) end = std::min<std::uint32_t>(end, set.l4 + load16(data + set.l4 + 4));
  return is_in(at, set.l4, end);
}

void correct(std::uint8_t* data, const Layers& layers, std::uint32_t checksum_at, std::uint16_t before,
             std::uint16_t after, bool is_udp) {
  std::uint16_t checksum = checksum_update(load16(data + checksum_at), before, after);
  if (is_udp && checksum == 0) checksum = 0xffff;
  // The checksums of the outer packet cover those of the inner one.
  change_word(data, layers, checksum_at, checksum);
}

void correct_packet(std::uint8_t* data, const Layers& layers, const HeaderSet& set, std::uint32_t at,
                    std::uint16_t before, std::uint16_t after) {
  if (!set.has_ip()) return;
  if (set.ip_version == 4) {
    const std::uint32_t checksum_at = set.l3 + 10u;
    if (at != checksum_at && is_in(at, set.l3, set.l3 + (data[set.l3] & 0xfu) * 4)) {
      correct(data, layers, checksum_at, before, after, false);
    }
  }
  if (set.transport == Transport::kNone) return;
  const std::uint32_t checksum_at = l4_checksum_at(data, set);
  if (checksum_at == kAbsent || at == checksum_at) return;
  if (is_in_pseudo_header(set, at) || is_in_segment(data, set, at)) {
    correct(data, layers, checksum_at, before, after, set.transport == Transport::kUdp);
  }
}

}  // namespace

void change_word(std::uint8_t* data, const Layers& layers, std::uint32_t at, std::uint16_t value) {
  const std::uint16_t before = load16(data + at);
  if (before == value) return;
  store16(data + at, value);
  correct_packet(data, layers, layers.inner, at, before, value);
  correct_packet(data, layers, layers.outer, at, before, value);
  if (layers.gre == kAbsent || (data[layers.gre] & 0x80) == 0) return;
  const std::uint32_t checksum_at = layers.gre + 4u;
  if (at != checksum_at && is_in(at, layers.gre, layers.outer.l3_end)) {
    correct(data, layers, checksum_at, before, value, false);
  }
}

}  // namespace verbs::mlx5::steering
