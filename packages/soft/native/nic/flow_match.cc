#include "nic/flow_match.h"

#include <algorithm>
#include <cerrno>

#include "wire/bytes.h"

namespace verbs::soft::nic {

using wire::load_be;
using wire::store_be;

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint8_t kTcp = 6, kUdp = 17;
constexpr std::size_t kEthernetHeader = 14;

// Returns what is behind a UDP header.
Bytes read_transport(Bytes segment, HeaderFields* fields) {
  const std::size_t header = fields->protocol == kTcp ? 20 : 8;
  if ((fields->protocol != kTcp && fields->protocol != kUdp) || segment.size() < header) return {};
  fields->transport = fields->protocol;
  std::memcpy(&fields->src_port, &segment[0], 2);
  std::memcpy(&fields->dst_port, &segment[2], 2);
  return fields->protocol == kUdp ? segment.subspan(header) : Bytes{};
}

// As adapters do, these two look at the bytes that are there, and not at the length that the header tells.
Bytes read_ipv4(Bytes packet, HeaderFields* fields) {
  constexpr std::size_t kHeader = 20;
  constexpr std::uint16_t kOffset = 0x1fff;  // of a fragment
  if (packet.size() < kHeader || packet[0] >> 4 != 4) return {};
  const std::size_t header = (packet[0] & 0x0fu) * 4;
  if (header < kHeader || header > packet.size()) return {};
  fields->ip_version = 4;
  fields->tos = packet[1];
  fields->ttl = packet[8];
  fields->protocol = packet[9];
  std::copy_n(&packet[12], 4, fields->src_ip.begin());
  std::copy_n(&packet[16], 4, fields->dst_ip.begin());
  if ((load_be<std::uint16_t>(&packet[6]) & kOffset) != 0) return {};
  return read_transport(packet.subspan(header), fields);
}

Bytes read_ipv6(Bytes packet, HeaderFields* fields) {
  constexpr std::size_t kHeader = 40;
  constexpr std::uint32_t kLabel = 0xfffff;
  if (packet.size() < kHeader || packet[0] >> 4 != 6) return {};
  const auto first = load_be<std::uint32_t>(&packet[0]);
  fields->ip_version = 6;
  fields->tos = static_cast<std::uint8_t>(first >> 20);
  store_be<std::uint32_t>(reinterpret_cast<std::uint8_t*>(&fields->flow_label), first & kLabel);
  fields->ttl = packet[7];
  std::copy_n(&packet[8], 16, fields->src_ip.begin());
  std::copy_n(&packet[24], 16, fields->dst_ip.begin());
  const UpperLayer upper = upper_layer_of_ipv6(packet);
  fields->protocol = upper.protocol;
  return upper.at == 0 ? Bytes{} : read_transport(packet.subspan(upper.at), fields);
}

Bytes read_ethernet(Bytes frame, HeaderFields* fields) {
  constexpr std::uint16_t kIpv4 = 0x0800, kIpv6 = 0x86dd, kVlan = 0x8100, kOuterVlan = 0x88a8;
  constexpr std::size_t kTag = 4;
  std::copy_n(&frame[0], 6, fields->dst_mac.begin());
  std::copy_n(&frame[6], 6, fields->src_mac.begin());
  std::size_t at = kEthernetHeader;
  auto type = load_be<std::uint16_t>(&frame[at - 2]);
  for (int tags = 0; tags < 2 && (type == kVlan || type == kOuterVlan) && at + kTag <= frame.size(); ++tags) {
    if (tags == 0) {
      fields->has_vlan = 1;
      std::memcpy(&fields->vlan_tag, &frame[at], 2);
    }
    at += kTag;
    type = load_be<std::uint16_t>(&frame[at - 2]);
  }
  std::memcpy(&fields->ether_type, &frame[at - 2], 2);
  if (type == kIpv4) return read_ipv4(frame.subspan(at), fields);
  if (type == kIpv6) return read_ipv6(frame.subspan(at), fields);
  return {};
}

}  // namespace

UpperLayer upper_layer_of_ipv6(Bytes packet) {
  constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kDestination = 60;
  UpperLayer upper{.at = 40, .protocol = packet[6]};
  while (upper.protocol == kHopByHop || upper.protocol == kRouting || upper.protocol == kDestination) {
    if (packet.size() - upper.at < 8) return {.protocol = upper.protocol};
    if (upper.protocol == kRouting && packet[upper.at + 3] != 0) upper.is_routed = true;
    const std::size_t size = 8 + packet[upper.at + 1] * std::size_t{8};
    if (size > packet.size() - upper.at) return {.protocol = upper.protocol};
    upper.protocol = packet[upper.at];
    upper.at += size;
  }
  return upper;
}

FrameFields fields_of(Bytes frame) {
  constexpr std::uint16_t kVxlanPort = 4789;
  constexpr std::size_t kVxlanHeader = 8;
  constexpr std::uint8_t kHasVni = 0x08;
  FrameFields fields{};
  const Bytes payload = read_ethernet(frame, &fields.outer);
  const auto* port = reinterpret_cast<const std::uint8_t*>(&fields.outer.dst_port);
  if (payload.size() < kVxlanHeader + kEthernetHeader || load_be<std::uint16_t>(port) != kVxlanPort) return fields;
  if ((payload[0] & kHasVni) == 0) return fields;
  fields.is_vxlan = 1;
  store_be<std::uint32_t>(reinterpret_cast<std::uint8_t*>(&fields.vni), load_be<std::uint32_t>(&payload[4]) >> 8);
  read_ethernet(payload.subspan(kVxlanHeader), &fields.inner);
  return fields;
}

bool FlowMatch::matches(const FrameFields& fields) const {
  using Words = std::array<std::uint64_t, sizeof(FrameFields) / sizeof(std::uint64_t)>;
  static_assert(sizeof(Words) == sizeof(FrameFields));
  const auto masks = std::bit_cast<Words>(mask), values = std::bit_cast<Words>(value),
             found = std::bit_cast<Words>(fields);
  std::uint64_t differs = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) differs |= (found[i] & masks[i]) ^ values[i];
  return differs == 0;
}

namespace {

// Fills in mask and value of the headers of a frame together.
class Headers {
 public:
  Headers(HeaderFields* mask, HeaderFields* value) : mask_(mask), value_(value) {}

  // The first `size` bytes of a field, as the specification has it. A later specification replaces an earlier one.
  template <typename Field, typename Given>
  void require(Field HeaderFields::* field, const Given& mask, const Given& value) {
    static_assert(sizeof(Given) <= sizeof(Field));
    auto* masks = reinterpret_cast<std::uint8_t*>(&(mask_->*field));
    auto* values = reinterpret_cast<std::uint8_t*>(&(value_->*field));
    const auto* given_mask = reinterpret_cast<const std::uint8_t*>(&mask);
    const auto* given = reinterpret_cast<const std::uint8_t*>(&value);
    for (std::size_t i = 0; i < sizeof(Given); ++i) {
      masks[i] |= given_mask[i];
      values[i] = static_cast<std::uint8_t>((values[i] & ~given_mask[i]) | (given[i] & given_mask[i]));
    }
  }
  void require(std::uint8_t HeaderFields::* field, std::uint8_t value) {
    mask_->*field = 0xff;
    value_->*field = value;
  }

  void add(const ibv_flow_spec_eth& spec) {
    require(&HeaderFields::dst_mac, spec.mask.dst_mac, spec.val.dst_mac);
    require(&HeaderFields::src_mac, spec.mask.src_mac, spec.val.src_mac);
    require(&HeaderFields::ether_type, spec.mask.ether_type, spec.val.ether_type);
    if (spec.mask.vlan_tag == 0) return;
    require(&HeaderFields::has_vlan, 1);
    require(&HeaderFields::vlan_tag, spec.mask.vlan_tag, spec.val.vlan_tag);
  }
  template <typename Filter>
  void add_ipv4(const Filter& mask, const Filter& value) {
    require(&HeaderFields::ip_version, 4);
    require(&HeaderFields::src_ip, mask.src_ip, value.src_ip);
    require(&HeaderFields::dst_ip, mask.dst_ip, value.dst_ip);
  }
  void add(const ibv_flow_spec_ipv4& spec) { add_ipv4(spec.mask, spec.val); }
  void add(const ibv_flow_spec_ipv4_ext& spec) {
    add_ipv4(spec.mask, spec.val);
    require(&HeaderFields::protocol, spec.mask.proto, spec.val.proto);
    require(&HeaderFields::tos, spec.mask.tos, spec.val.tos);
    require(&HeaderFields::ttl, spec.mask.ttl, spec.val.ttl);
  }
  void add(const ibv_flow_spec_ipv6& spec) {
    require(&HeaderFields::ip_version, 6);
    require(&HeaderFields::src_ip, spec.mask.src_ip, spec.val.src_ip);
    require(&HeaderFields::dst_ip, spec.mask.dst_ip, spec.val.dst_ip);
    require(&HeaderFields::flow_label, spec.mask.flow_label, spec.val.flow_label);
    require(&HeaderFields::protocol, spec.mask.next_hdr, spec.val.next_hdr);
    require(&HeaderFields::tos, spec.mask.traffic_class, spec.val.traffic_class);
    require(&HeaderFields::ttl, spec.mask.hop_limit, spec.val.hop_limit);
  }
  void add(const ibv_flow_spec_tcp_udp& spec) {
    require(&HeaderFields::transport, (spec.type & ~IBV_FLOW_SPEC_INNER) == IBV_FLOW_SPEC_TCP ? kTcp : kUdp);
    require(&HeaderFields::src_port, spec.mask.src_port, spec.val.src_port);
    require(&HeaderFields::dst_port, spec.mask.dst_port, spec.val.dst_port);
  }

 private:
  HeaderFields* mask_;
  HeaderFields* value_;
};

void require_vxlan(FlowMatch* match) {
  match->mask.is_vxlan = UINT32_MAX;
  match->value.is_vxlan = 1;
}

// The fields that all specifications begin with.
struct SpecHead {
  std::uint32_t type;
  std::uint16_t size;
};

// EINVAL if the specification has not the size of its type.
template <typename Spec>
int read(const std::uint8_t* from, std::uint16_t size, Spec* spec) {
  if (size != sizeof *spec) return EINVAL;
  std::memcpy(static_cast<void*>(spec), from, sizeof *spec);
  return 0;
}

template <typename Spec>
int add_headers(Headers headers, const std::uint8_t* from, std::uint16_t size) {
  Spec spec;
  if (const int error = read(from, size, &spec)) return error;
  headers.add(spec);
  return 0;
}

int add_ipv4_ext(Headers headers, const std::uint8_t* from, std::uint16_t size) {
  ibv_flow_spec_ipv4_ext spec;
  if (const int error = read(from, size, &spec)) return error;
  if (spec.mask.flags != 0) return EOPNOTSUPP;
  headers.add(spec);
  return 0;
}

int add_vxlan(FlowMatch* match, const std::uint8_t* from, std::uint16_t size) {
  ibv_flow_spec_tunnel spec;
  if (const int error = read(from, size, &spec)) return error;
  require_vxlan(match);
  match->mask.vni = spec.mask.tunnel_id;
  match->value.vni = spec.val.tunnel_id & spec.mask.tunnel_id;
  return 0;
}

int add_match(FlowMatch* match, const std::uint8_t* from, const SpecHead& head) {
  const bool inner = (head.type & IBV_FLOW_SPEC_INNER) != 0;
  if (inner) require_vxlan(match);
  const Headers headers(inner ? &match->mask.inner : &match->mask.outer,
                        inner ? &match->value.inner : &match->value.outer);
  switch (head.type & ~std::uint32_t{IBV_FLOW_SPEC_INNER}) {
    case IBV_FLOW_SPEC_ETH:
      return add_headers<ibv_flow_spec_eth>(headers, from, head.size);
    case IBV_FLOW_SPEC_IPV4:
      return add_headers<ibv_flow_spec_ipv4>(headers, from, head.size);
    case IBV_FLOW_SPEC_IPV4_EXT:
      return add_ipv4_ext(headers, from, head.size);
    case IBV_FLOW_SPEC_IPV6:
      return add_headers<ibv_flow_spec_ipv6>(headers, from, head.size);
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP:
      return add_headers<ibv_flow_spec_tcp_udp>(headers, from, head.size);
    case IBV_FLOW_SPEC_VXLAN_TUNNEL:
      return inner ? EINVAL : add_vxlan(match, from, head.size);
    case IBV_FLOW_SPEC_ESP:
    case IBV_FLOW_SPEC_GRE:
    case IBV_FLOW_SPEC_MPLS:
      return EOPNOTSUPP;
    default:
      return EINVAL;
  }
}

int add_action(FlowAction* action, const std::uint8_t* from, const SpecHead& head, Why* why) {
  constexpr std::uint32_t kMaxTag = 0xffffff;
  switch (head.type) {
    case IBV_FLOW_SPEC_ACTION_TAG: {
      ibv_flow_spec_action_tag spec;
      if (const int error = read(from, head.size, &spec)) return error;
      action->tag = spec.tag_id;
      if (spec.tag_id <= kMaxTag) return 0;
      *why = {Reason::kFlowTag, {spec.tag_id}};
      return EINVAL;
    }
    case IBV_FLOW_SPEC_ACTION_DROP:
      action->drops = true;
      return head.size == sizeof(ibv_flow_spec_action_drop) ? 0 : EINVAL;
    case IBV_FLOW_SPEC_ACTION_HANDLE:
    case IBV_FLOW_SPEC_ACTION_COUNT:
      return EOPNOTSUPP;
    default:
      return EINVAL;
  }
}

}  // namespace

int read_specs(const ibv_flow_attr& attr, FlowMatch* match, FlowAction* action, Why* why) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(&attr + 1);
  for (unsigned i = 0; i < attr.num_of_specs; ++i) {
    SpecHead head;
    std::memcpy(&head.type, at, sizeof head.type);
    std::memcpy(&head.size, at + sizeof head.type, sizeof head.size);
    const bool acts = head.type >= IBV_FLOW_SPEC_ACTION_TAG;
    const int error = acts ? add_action(action, at, head, why) : add_match(match, at, head);
    if (error != 0) {
      if (why->reason == Reason::kNone) *why = {Reason::kFlowSpecification, {i, head.type, head.size}};
      return error;
    }
    at += head.size;
  }
  return 0;
}

void match_multicast(FlowMatch* match) { match->mask.outer.dst_mac[0] = match->value.outer.dst_mac[0] = 1; }

}  // namespace verbs::soft::nic
