#include "abi/ah/address_from_wc.h"

#include <cerrno>
#include <cstring>

#include "abi/objects/objects.h"
#include "wire/bytes.h"
#include "wire/gid.h"

namespace verbs::soft::abi {

namespace {

constexpr std::size_t kIpv4Offset = 20;

std::uint16_t ones_sum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += wire::load_be<std::uint16_t>(header + i);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// The upper half of an IPv6 source address can look like an IPv4 header; the header checksum distinguishes them.
bool holds_ipv4(const std::uint8_t* bytes) {
  const std::uint8_t* header = bytes + kIpv4Offset;
  if (header[0] != 0x45) return false;
  return (bytes[0] >> 4) != 6 || ones_sum(header) == 0xffff;
}

int find_gid(ibv_context* context, std::uint8_t port_num, const wire::Gid& wanted) {
  wire::Gid known;
  nic::GidKind kind;
  Uses uses;
  if (uses.add(context) != 0) return -1;
  for (int index = 0;
       control(context,
               [&](nic::Nic& nic, link::Nanos) { return nic.ports().query_gid(port_num, index, &known, &kind); }) == 0;
       ++index) {
    if (kind.holds_place) continue;
    if (known == wanted) return index;
    // A message to a multicast group is answered from the port's first address of the same IP version.
    if (wanted.is_multicast() && !known.is_zero() && known.is_ipv4() == wanted.is_ipv4()) return index;
  }
  return -1;
}

}  // namespace

int address_from_wc(ibv_context* context, std::uint8_t port_num, const ibv_wc& wc, const ibv_grh* grh,
                    ibv_ah_attr* attr) {
  *attr = {};
  attr->dlid = wc.slid;
  attr->sl = wc.sl;
  attr->src_path_bits = wc.dlid_path_bits;
  attr->port_num = port_num;
  if (!(wc.wc_flags & IBV_WC_GRH)) return 0;
  if (!grh) return EINVAL;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(grh);
  wire::Gid sender, receiver;
  if (holds_ipv4(bytes)) {
    const std::uint8_t* header = bytes + kIpv4Offset;
    attr->grh.traffic_class = header[1];
    attr->grh.hop_limit = header[8];
    sender = wire::Gid::from_ipv4(header + 12);
    receiver = wire::Gid::from_ipv4(header + 16);
  } else if (bytes[0] >> 4 == 6) {
    const auto first = wire::load_be<std::uint32_t>(bytes);
    attr->grh.traffic_class = static_cast<std::uint8_t>(first >> 20);
    attr->grh.flow_label = first & 0xfffff;
    attr->grh.hop_limit = bytes[7];
    sender = wire::Gid::from_bytes(bytes + 8);
    receiver = wire::Gid::from_bytes(bytes + 24);
  } else {
    return EPROTONOSUPPORT;
  }
  const int index = find_gid(context, port_num, receiver);
  if (index < 0) return ENOENT;
  attr->is_global = 1;
  attr->grh.sgid_index = static_cast<std::uint8_t>(index);
  std::memcpy(attr->grh.dgid.raw, sender.bytes.data(), sizeof attr->grh.dgid.raw);
  return 0;
}

}  // namespace verbs::soft::abi
