// What a flow matches: the fields of a frame's headers, and the specifications of ibv_create_flow() as a mask and a
// value of them.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "nic/base/reasons.h"

namespace verbs::soft::nic {

// What lies behind the extension headers of an IPv6 packet.
struct UpperLayer {
  std::size_t at = 0;         // where it begins; 0: an extension header is cut off
  std::uint8_t protocol = 0;  // of the last header that was looked at: a fragment's is not looked through
  bool is_routed = false;     // a routing header names further destinations
};
// `packet` has at least the 40 bytes of the IPv6 header.
UpperLayer upper_layer_of_ipv6(std::span<const std::uint8_t> packet);

// The headers of a frame, or of the frame in a tunnel; in network byte order, and zero where a header is absent or cut
// off.
struct HeaderFields {
  std::array<std::uint8_t, 6> dst_mac, src_mac;
  std::uint16_t ether_type;  // behind the VLAN tags
  std::uint16_t vlan_tag;    // the first one
  std::uint8_t has_vlan;
  std::uint8_t ip_version;
  std::uint8_t protocol;
  std::uint8_t tos;        // or the traffic class
  std::uint8_t ttl;        // or the hop limit
  std::uint8_t transport;  // `protocol`, if that is TCP or UDP and its header is there
  std::uint16_t src_port, dst_port;
  std::uint16_t none;
  std::uint32_t flow_label;
  std::array<std::uint8_t, 16> src_ip, dst_ip;  // an IPv4 address is in the first four bytes
};

struct FrameFields {
  HeaderFields outer, inner;
  std::uint32_t vni;
  std::uint32_t is_vxlan;
};
static_assert(std::has_unique_object_representations_v<FrameFields>, "matched and compared by their bytes");

// Any bytes of 14 or more.
FrameFields fields_of(std::span<const std::uint8_t> frame);

struct FlowMatch {
  FrameFields mask{}, value{};

  bool matches(const FrameFields& fields) const;
  bool operator==(const FlowMatch& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
};

// What becomes of the frames that a flow matches.
struct FlowAction {
  bool drops = false;
  std::uint32_t tag = 0;  // 24 bits

  bool operator==(const FlowAction&) const = default;
};

// Reads the specifications behind the attributes, each with a size of its own; like libibverbs it ignores the size in
// the attributes. 0; EINVAL for a specification with a wrong size, or of a type that does not exist; EOPNOTSUPP for one
// that is not matched here.
int read_specs(const ibv_flow_attr& attr, FlowMatch* match, FlowAction* action, Why* why);

// The default flows have no specifications: multicast, or all frames.
void match_multicast(FlowMatch* match);

}  // namespace verbs::soft::nic
