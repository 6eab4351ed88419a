#include "cm/ip_header.h"

#include <algorithm>
#include <cstring>

#include "wire/bytes.h"

namespace verbs::soft::cm {
namespace {

constexpr std::size_t kSource = 4, kDestination = 20;
constexpr std::size_t kIpv4Offset = 12;  // the address is in the last 4 of its 16 bytes

// As a GID.
void read_address(const std::uint8_t* at, bool ipv4, std::uint8_t* address) {
  const wire::Gid gid = ipv4 ? wire::Gid::from_ipv4(at + kIpv4Offset) : wire::Gid::from_bytes(at);
  std::ranges::copy(gid.bytes, address);
}

void write_address(const std::uint8_t* address, bool ipv4, std::uint8_t* at) {
  std::memset(at, 0, 16);
  if (ipv4) {
    std::memcpy(at + kIpv4Offset, address + 12, 4);
  } else {
    std::memcpy(at, address, 16);
  }
}

}  // namespace

bool parse_ip_header(std::span<const std::uint8_t> bytes, verbs_soft_cm_ip* ip) {
  if (bytes.size() < VERBS_SOFT_CM_IP_HEADER || bytes[0] != 0) return false;
  const unsigned version = bytes[1] >> 4;
  if (version != 4 && version != 6) return false;
  ip->source_port = wire::load_be<std::uint16_t>(&bytes[2]);
  read_address(&bytes[kSource], version == 4, ip->source);
  read_address(&bytes[kDestination], version == 4, ip->destination);
  return true;
}

void emit_ip_header(const verbs_soft_cm_ip& ip, std::uint8_t* bytes) {
  const bool ipv4 = wire::Gid::from_bytes(ip.destination).is_ipv4();
  bytes[0] = 0;
  bytes[1] = static_cast<std::uint8_t>((ipv4 ? 4 : 6) << 4);
  wire::store_be(bytes + 2, ip.source_port);
  write_address(ip.source, ipv4, bytes + kSource);
  write_address(ip.destination, ipv4, bytes + kDestination);
}

}  // namespace verbs::soft::cm
