#include "steering/headers/parser.h"

#include <algorithm>

#include "steering/headers/bytes.h"

namespace verbs::mlx5::steering {
namespace {

constexpr std::uint32_t kIpv4Size = 20, kIpv6Size = 40, kTcpSize = 20, kUdpSize = 8;
constexpr std::uint16_t kEtherIpv4 = 0x0800, kEtherIpv6 = 0x86dd, kEtherVlan = 0x8100, kEtherServiceVlan = 0x88a8,
                        kEtherMpls = 0x8847, kEtherMplsMulticast = 0x8848, kEtherBridging = 0x6558;
// Headers after this offset are not parsed: an offset has 16 bits, and kAbsent is one value.
constexpr std::uint32_t kHorizon = 0xff00;
constexpr int kMaxExtensions = 8, kMaxLabels = 8, kMaxGtpExtensions = 4;

enum Protocol : std::uint8_t {
  kHopByHop = 0,
  kIcmp = 1,
  kIpIp = 4,
  kTcp = 6,
  kUdp = 17,
  kIpv6InIp = 41,
  kRouting = 43,
  kFragment = 44,
  kGre = 47,
  kEsp = 50,
  kAuthentication = 51,
  kIcmpV6 = 58,
  kDestinationOptions = 60,
  kMobility = 135,
};

enum UdpPort : std::uint16_t {
  kGtpUser = 2152,
  kVxlan = 4789,
  kVxlanGpe = 4790,
  kRoce = 4791,
  kGeneve = 6081,
  kMplsInUdp = 6635,
};

class Parser {
 public:
  Parser(const std::uint8_t* data, std::uint32_t size, Lengths lengths, Layers& layers)
      : data_(data), end_(std::min(size, kHorizon)), lengths_(lengths), layers_(layers) {}

  void run() { ethernet(layers_.outer, 0); }

 private:
  // Whether `bytes` from `at` are inside the frame.
  bool has(std::uint32_t at, std::uint32_t bytes) const { return at <= end_ && bytes <= end_ - at; }
  bool is_outer(const HeaderSet& set) const { return &set == &layers_.outer; }
  static std::uint16_t offset(std::uint32_t at) { return static_cast<std::uint16_t>(at); }

  void ethernet(HeaderSet& set, std::uint32_t at) {
    if (!has(at, kMacSize)) return;
    set.mac = offset(at);
    std::uint32_t type_at = at + 12;
    std::uint16_t type = load16(data_ + type_at);
    for (int tags = 0; tags < 2 && (type == kEtherVlan || type == kEtherServiceVlan); ++tags) {
      if (!has(type_at, kVlanSize + 2)) break;
      set.vlan[tags] = offset(type_at);
      type_at += kVlanSize;
      type = load16(data_ + type_at);
    }
    set.ethertype_at = offset(type_at);
    set.ethertype = type;
    payload(set, type, type_at + 2);
  }

  void payload(HeaderSet& set, std::uint16_t ethertype, std::uint32_t at) {
    if (ethertype == kEtherIpv4) {
      ipv4(set, at);
    } else if (ethertype == kEtherIpv6) {
      ipv6(set, at);
    } else if ((ethertype == kEtherMpls || ethertype == kEtherMplsMulticast) && has(at, 4)) {
      set.mpls = offset(at);
    }
  }

  // Sets the end of the IP packet, at most the end of the frame, and whether its length is valid.
  std::uint32_t limit(HeaderSet& set, std::uint32_t at, std::uint32_t header, std::uint32_t total) {
    const std::uint32_t available = end_ - at;
    if (lengths_ == Lengths::kIgnored) return end_;
    set.l3_ok = total >= header && total <= available;
    return at + std::clamp(total, header, available);
  }

  void ipv4(HeaderSet& set, std::uint32_t at) {
    if (!has(at, kIpv4Size) || data_[at] >> 4 != 4) return;
    const std::uint32_t header = (data_[at] & 0xfu) * 4;
    if (header < kIpv4Size || !has(at, header)) return;
    set.l3 = offset(at);
    set.ip_version = 4;
    set.ip_protocol = data_[at + 9];
    const std::uint16_t fragment = load16(data_ + at + 6);
    set.fragment = (fragment & 0x3fff) != 0;
    set.l3_end = limit(set, at, header, load16(data_ + at + 2));
    if ((fragment & 0x1fff) == 0) transport(set, at + header);
  }

  void ipv6(HeaderSet& set, std::uint32_t at) {
    if (!has(at, kIpv6Size) || data_[at] >> 4 != 6) return;
    set.l3 = offset(at);
    set.ip_version = 6;
    set.l3_end = limit(set, at, kIpv6Size, kIpv6Size + load16(data_ + at + 4));
    std::uint8_t next = data_[at + 6];
    std::uint32_t header = at + kIpv6Size;
    bool is_later_fragment = false;
    int extensions = 0;
    for (; is_extension(next) && extensions < kMaxExtensions; ++extensions) {
      set.ip_protocol = next;
      if (is_later_fragment || header + 8 > set.l3_end) return;
      const std::uint32_t length = extension_size(next, header);
      if (header + length > set.l3_end) return;
      if (next == kFragment) {
        const std::uint16_t fragment = load16(data_ + header + 2);
        set.fragment |= (fragment & 0xfff9) != 0;
        is_later_fragment = fragment >> 3 != 0;
      } else if (next == kRouting && data_[header + 3] != 0) {
        set.final_destination = false;
      }
      next = data_[header];
      header += length;
    }
    set.ip_protocol = next;
    if (!is_later_fragment && !is_extension(next)) transport(set, header);
  }

  static bool is_extension(std::uint8_t protocol) {
    return protocol == kHopByHop || protocol == kRouting || protocol == kFragment || protocol == kDestinationOptions ||
           protocol == kAuthentication || protocol == kMobility;
  }
  std::uint32_t extension_size(std::uint8_t protocol, std::uint32_t at) const {
    if (protocol == kFragment) return 8;
    if (protocol == kAuthentication) return (data_[at + 1] + 2u) * 4;
    return (data_[at + 1] + 1u) * 8;
  }

  void transport(HeaderSet& set, std::uint32_t at) {
    // Bytes after the IP packet's length are padding and are not parsed.
    end_ = std::min(end_, set.l3_end);
    switch (set.ip_protocol) {
      case kTcp:
        if (!has(at, kTcpSize)) return;
        start(set, Transport::kTcp, at);
        set.l4_ok = data_[at + 12] >> 4 >= 5 && has(at, (data_[at + 12] >> 4) * 4u);
        return;
      case kUdp:
        return udp(set, at);
      case kIcmp:
      case kIcmpV6:
        if (!has(at, 8) || (set.ip_protocol == kIcmp) != (set.ip_version == 4)) return;
        start(set, set.ip_protocol == kIcmp ? Transport::kIcmp : Transport::kIcmpV6, at);
        set.l4_ok = true;
        return;
      case kEsp:
        if (!has(at, 8)) return;
        start(set, Transport::kEsp, at);
        set.l4_ok = true;
        return;
      default:
        if (is_outer(set) && !set.fragment) tunnel_in_ip(set.ip_protocol, at);
    }
  }

  static void start(HeaderSet& set, Transport kind, std::uint32_t at) {
    set.transport = kind;
    set.l4 = offset(at);
  }

  void udp(HeaderSet& set, std::uint32_t at) {
    if (!has(at, kUdpSize)) return;
    start(set, Transport::kUdp, at);
    const std::uint32_t length = load16(data_ + at + 4);
    set.l4_ok = length >= kUdpSize && has(at, length);
    if (set.fragment) return;
    const std::uint16_t port = load16(data_ + at + 2);
    if (port == kRoce) {
      if (layers_.bth == kAbsent && has(at + kUdpSize, 12)) layers_.bth = offset(at + kUdpSize);
    } else if (is_outer(set)) {
      tunnel_in_udp(port, at + kUdpSize);
    }
  }

  void enter(Tunnel tunnel, std::uint32_t header, std::uint32_t payload_at) {
    layers_.tunnel = tunnel;
    layers_.tunnel_header = offset(header);
    layers_.tunnel_payload = offset(payload_at);
  }

  // The payload of a tunnel that has an ethertype.
  void carried(std::uint16_t ethertype, std::uint32_t at) {
    layers_.inner.ethertype = ethertype;
    if (ethertype == kEtherBridging) {
      ethernet(layers_.inner, at);
    } else {
      payload(layers_.inner, ethertype, at);
    }
  }

  // The payload of a tunnel that only its first four bits identify.
  void carried_ip(std::uint32_t at) {
    if (!has(at, 1)) return;
    const int version = data_[at] >> 4;
    if (version == 4) carried(kEtherIpv4, at);
    if (version == 6) carried(kEtherIpv6, at);
  }

  void tunnel_in_udp(std::uint16_t port, std::uint32_t at) {
    switch (port) {
      case kVxlan:
        if (!has(at, 8)) return;
        enter(Tunnel::kVxlan, at, at + 8);
        return carried(kEtherBridging, at + 8);
      case kVxlanGpe:
        if (!has(at, 8)) return;
        enter(Tunnel::kVxlanGpe, at, at + 8);
        return vxlan_gpe(data_[at + 3], at + 8);
      case kGeneve: {
        const std::uint32_t options = has(at, 8) ? (data_[at] & 0x3fu) * 4 : 0;
        if (!has(at, 8 + options)) return;
        enter(Tunnel::kGeneve, at, at + 8 + options);
        return carried(load16(data_ + at + 2), at + 8 + options);
      }
      case kMplsInUdp:
        return mpls(Tunnel::kMplsOverUdp, at, at);
      case kGtpUser:
        return gtp(at);
      default:
        return;
    }
  }

  void vxlan_gpe(std::uint8_t next_protocol, std::uint32_t at) {
    if (next_protocol == 1) carried(kEtherIpv4, at);
    if (next_protocol == 2) carried(kEtherIpv6, at);
    if (next_protocol == 3) carried(kEtherBridging, at);
  }

  void mpls(Tunnel tunnel, std::uint32_t header, std::uint32_t at) {
    if (!has(at, 4)) return;
    layers_.tunnel_mpls = offset(at);
    for (int labels = 0; labels < kMaxLabels && has(at, 4); ++labels, at += 4) {
      if ((data_[at + 2] & 1) == 0) continue;  // not the bottom of the stack
      enter(tunnel, header, at + 4);
      return carried_ip(at + 4);
    }
  }

  void gtp(std::uint32_t at) {
    if (!has(at, 8) || data_[at] >> 5 != 1 || (data_[at] & 0x10) == 0) return;  // version 1, not GTP'
    std::uint32_t payload_at = at + 8;
    if ((data_[at] & 7) != 0) {  // E, S or PN: one more word
      if (!has(payload_at, 4)) return;
      std::uint8_t next = (data_[at] & 4) != 0 ? data_[at + 11] : 0;
      payload_at += 4;
      for (int extensions = 0; next != 0; ++extensions) {
        const std::uint32_t length = has(payload_at, 4) ? data_[payload_at] * 4u : 0;
        if (length == 0 || extensions == kMaxGtpExtensions || !has(payload_at, length)) return;
        next = data_[payload_at + length - 1];
        payload_at += length;
      }
    }
    enter(Tunnel::kGtpU, at, payload_at);
    if (data_[at + 1] == 255) carried_ip(payload_at);  // a G-PDU
  }

  void tunnel_in_ip(std::uint8_t protocol, std::uint32_t at) {
    if (protocol == kGre) return gre(at);
    if (protocol != kIpIp && protocol != kIpv6InIp) return;
    const std::uint16_t ethertype = protocol == kIpIp ? kEtherIpv4 : kEtherIpv6;
    if (!has(at, protocol == kIpIp ? kIpv4Size : kIpv6Size)) return;
    enter(Tunnel::kIpInIp, at, at);
    carried(ethertype, at);
  }

  void gre(std::uint32_t at) {
    if (!has(at, 4)) return;
    const std::uint16_t flags = load16(data_ + at);
    // The version is ignored: some senders put version 1 on an ordinary header.
    if ((flags & 0x4000) != 0) return;  // with source routes (RFC 1701)
    const std::uint32_t size =
        4 + ((flags & 0x8000) != 0 ? 4u : 0u) + ((flags & 0x2000) != 0 ? 4u : 0u) + ((flags & 0x1000) != 0 ? 4u : 0u);
    if (!has(at, size)) return;
    layers_.gre = offset(at);
    const std::uint16_t protocol = load16(data_ + at + 2);
    if (protocol == kEtherMpls || protocol == kEtherMplsMulticast) return mpls(Tunnel::kMplsOverGre, at, at + size);
    enter(Tunnel::kGre, at, at + size);
    carried(protocol, at + size);
  }

  const std::uint8_t* data_;
  std::uint32_t end_;
  Lengths lengths_;
  Layers& layers_;
};

}  // namespace

Layers parse(const std::uint8_t* data, std::uint32_t size, Lengths lengths) {
  Layers layers;
  Parser(data, size, lengths, layers).run();
  return layers;
}

}  // namespace verbs::mlx5::steering
