#include "model/flow/specs.h"

#include <cstring>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::model {

namespace {

namespace header = steering::header;
namespace misc = steering::misc;

constexpr std::uint32_t kMiscAt = steering::kMatchSectionSize, kInnerAt = 2 * steering::kMatchSectionSize;
constexpr std::uint8_t kTcp = 6, kUdp = 17, kGre = 47;
constexpr std::uint8_t kCvlanTag = 0x80;

// Fills in mask and value together.
class Match {
 public:
  Match(std::span<std::uint8_t> mask, std::span<std::uint8_t> value) : mask_(mask), value_(value) {}

  void copy(std::uint32_t at, const void* mask, const void* value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      set(at + static_cast<std::uint32_t>(i), static_cast<const std::uint8_t*>(mask)[i],
          static_cast<const std::uint8_t*>(value)[i]);
    }
  }
  void set(std::uint32_t at, unsigned mask, unsigned value) {
    mask_[at] |= static_cast<std::uint8_t>(mask);
    value_[at] |= static_cast<std::uint8_t>(value & mask);
  }

 private:
  std::span<std::uint8_t> mask_, value_;
};

// ip_version is in bits 1 to 4 of its byte.
void add_version(Match& match, std::uint32_t at, unsigned version) {
  match.set(at + header::kFlags, 0xf << 1, version << 1);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_eth& spec) {
  match.copy(at + header::kSmac, spec.mask.src_mac, spec.val.src_mac, 6);
  match.copy(at + header::kDmac, spec.mask.dst_mac, spec.val.dst_mac, 6);
  match.copy(at + header::kEthertype, &spec.mask.ether_type, &spec.val.ether_type, 2);
  if (spec.mask.vlan_tag == 0) return;
  match.set(at + header::kFlags, kCvlanTag, kCvlanTag);
  match.copy(at + header::kFirstVlan, &spec.mask.vlan_tag, &spec.val.vlan_tag, 2);
}

template <typename Filter>
void add_addresses(Match& match, std::uint32_t at, const Filter& mask, const Filter& value) {
  add_version(match, at, 4);
  match.copy(at + header::kSourceIp + 12, &mask.src_ip, &value.src_ip, 4);
  match.copy(at + header::kDestinationIp + 12, &mask.dst_ip, &value.dst_ip, 4);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_ipv4_ext& spec) {
  add_addresses(match, at, spec.mask, spec.val);
  match.set(at + header::kIpProtocol, spec.mask.proto, spec.val.proto);
  match.set(at + header::kDscpEcn, spec.mask.tos, spec.val.tos);
  match.set(at + header::kTtl, spec.mask.ttl, spec.val.ttl);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_ipv6& spec) {
  add_version(match, at, 6);
  match.copy(at + header::kSourceIp, spec.mask.src_ip, spec.val.src_ip, 16);
  match.copy(at + header::kDestinationIp, spec.mask.dst_ip, spec.val.dst_ip, 16);
  match.set(at + header::kIpProtocol, spec.mask.next_hdr, spec.val.next_hdr);
  match.set(at + header::kDscpEcn, spec.mask.traffic_class, spec.val.traffic_class);
  match.set(at + header::kTtl, spec.mask.hop_limit, spec.val.hop_limit);
  const std::uint32_t label = kMiscAt + (at == 0 ? misc::kOuterFlowLabel : misc::kInnerFlowLabel);
  match.copy(label, &spec.mask.flow_label, &spec.val.flow_label, 4);
}

void add_ports(Match& match, std::uint32_t at, const ibv_flow_spec_tcp_udp& spec, bool tcp) {
  match.set(at + header::kIpProtocol, 0xff, tcp ? kTcp : kUdp);
  match.copy(at + (tcp ? header::kTcpSport : header::kUdpSport), &spec.mask.src_port, &spec.val.src_port, 2);
  match.copy(at + (tcp ? header::kTcpDport : header::kUdpDport), &spec.mask.dst_port, &spec.val.dst_port, 2);
}

void add(Match& match, std::uint32_t at, const ibv_flow_spec_gre& spec) {
  match.set(at + header::kIpProtocol, 0xff, kGre);
  // Checksum, key and sequence number present: bits 0, 2 and 3 of the header and of the match parameters' byte.
  const auto flags = [](std::uint16_t bits) {
    return unsigned{reinterpret_cast<const std::uint8_t*>(&bits)[0]} & 0xb0;
  };
  match.set(kMiscAt + misc::kFlags, flags(spec.mask.c_ks_res0_ver), flags(spec.val.c_ks_res0_ver));
  match.copy(kMiscAt + misc::kGreProtocol, &spec.mask.protocol, &spec.val.protocol, 2);
  match.copy(kMiscAt + misc::kGreKey, &spec.mask.key, &spec.val.key, 4);
}

// Reads one specification. EINVAL if its size is not that of its type.
template <typename Spec>
int read(const std::uint8_t* from, std::size_t size, Spec* spec) {
  if (size != sizeof *spec) return EINVAL;
  std::memcpy(static_cast<void*>(spec), from, sizeof *spec);
  return 0;
}

int add_spec(Match& match, const std::uint8_t* from, std::size_t size, unsigned type) {
  const std::uint32_t at = (type & IBV_FLOW_SPEC_INNER) != 0 ? kInnerAt : 0;
  switch (type & ~unsigned{IBV_FLOW_SPEC_INNER}) {
    case IBV_FLOW_SPEC_ETH: {
      ibv_flow_spec_eth spec;
      if (const int error = read(from, size, &spec)) return error;
      add(match, at, spec);
      return 0;
    }
    case IBV_FLOW_SPEC_IPV4: {
      ibv_flow_spec_ipv4 spec;
      if (const int error = read(from, size, &spec)) return error;
      add_addresses(match, at, spec.mask, spec.val);
      return 0;
    }
    case IBV_FLOW_SPEC_IPV4_EXT: {
      ibv_flow_spec_ipv4_ext spec;
      if (const int error = read(from, size, &spec)) return error;
      if (spec.mask.flags != 0) return EOPNOTSUPP;
      add(match, at, spec);
      return 0;
    }
    case IBV_FLOW_SPEC_IPV6: {
      ibv_flow_spec_ipv6 spec;
      if (const int error = read(from, size, &spec)) return error;
      add(match, at, spec);
      return 0;
    }
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP: {
      ibv_flow_spec_tcp_udp spec;
      if (const int error = read(from, size, &spec)) return error;
      add_ports(match, at, spec, (type & ~unsigned{IBV_FLOW_SPEC_INNER}) == IBV_FLOW_SPEC_TCP);
      return 0;
    }
    case IBV_FLOW_SPEC_VXLAN_TUNNEL: {
      ibv_flow_spec_tunnel spec;
      if (const int error = read(from, size, &spec)) return error;
      // The low 24 of 32 bits.
      const auto* mask = reinterpret_cast<const std::uint8_t*>(&spec.mask.tunnel_id);
      const auto* value = reinterpret_cast<const std::uint8_t*>(&spec.val.tunnel_id);
      match.copy(kMiscAt + misc::kVxlanVni, mask + 1, value + 1, 3);
      return 0;
    }
    case IBV_FLOW_SPEC_GRE: {
      ibv_flow_spec_gre spec;
      if (const int error = read(from, size, &spec)) return error;
      add(match, at, spec);
      return 0;
    }
    default:
      return EOPNOTSUPP;
  }
}

int add_action(FlowRequest& request, const std::uint8_t* from, std::size_t size, unsigned type, bool* drops) {
  switch (type) {
    case IBV_FLOW_SPEC_ACTION_TAG: {
      ibv_flow_spec_action_tag spec;
      if (const int error = read(from, size, &spec)) return error;
      return request.add_tag(spec.tag_id);
    }
    case IBV_FLOW_SPEC_ACTION_DROP:
      if (size != sizeof(ibv_flow_spec_action_drop)) return EINVAL;
      *drops = true;
      return request.add_drop();
    case IBV_FLOW_SPEC_ACTION_HANDLE: {
      ibv_flow_spec_action_handle spec;
      if (const int error = read(from, size, &spec)) return error;
      return request.add_flow_action(spec.action);
    }
    default:
      return EOPNOTSUPP;
  }
}

}  // namespace

int read_specs(const ibv_flow_attr& attr, std::span<std::uint8_t, steering::kMatchSize> mask,
               std::span<std::uint8_t, steering::kMatchSize> value, FlowRequest& request, bool* drops) {
  Match match(mask, value);
  const auto* at = reinterpret_cast<const std::uint8_t*>(&attr + 1);
  for (unsigned i = 0; i < attr.num_of_specs; ++i) {
    ibv_flow_spec_action_drop head;  // the fields that all specifications begin with
    std::memcpy(static_cast<void*>(&head), at, sizeof head);
    const unsigned type = head.type;
    const int error = type >= IBV_FLOW_SPEC_ACTION_TAG ? add_action(request, at, head.size, type, drops)
                                                       : add_spec(match, at, head.size, type);
    if (error != 0) return error;
    at += head.size;
  }
  return 0;
}

}  // namespace verbs::mlx5::model
