// Finds the headers of a frame. Never reads outside of the frame.
//
// Known: Ethernet with up to two VLAN tags (0x8100, 0x88a8), IPv4 with options, IPv6 with extension headers, TCP, UDP,
// ICMP, ICMPv6, ESP, RoCE v2 (4791) and the tunnels VXLAN (4789), VXLAN-GPE (4790), GENEVE (6081), GRE and NVGRE, MPLS
// over UDP (6635) and over GRE, GTP-U (2152) and IP in IP. Only the outermost tunnel is entered. A fragment is not
// parsed as a tunnel. Nothing is parsed after an Ethernet MPLS label.
#pragma once

#include <cstdint>

namespace verbs::mlx5::steering {

// The headers of a frame: the parser's result, as offsets from the frame's first byte.
//
// An offset other than kAbsent means that the whole fixed header is inside the frame. Lengths in headers are not
// trusted: l3_ok and l4_ok tell whether they fit.

inline constexpr std::uint16_t kAbsent = 0xffff;
inline constexpr std::uint32_t kMacSize = 14, kVlanSize = 4;  // bytes of a MAC header and of a VLAN tag

// The protocol after the IP header, if the parser knows it.
enum class Transport : std::uint8_t { kNone, kTcp, kUdp, kIcmp, kIcmpV6, kEsp };

// One MAC header and the headers after it, up to the transport header.
struct HeaderSet {
  std::uint16_t mac = kAbsent;                 // 14 bytes
  std::uint16_t vlan[2] = {kAbsent, kAbsent};  // each tag's TPID, 2 bytes before its TCI
  std::uint16_t ethertype_at = kAbsent;        // the ethertype after the last tag
  std::uint16_t mpls = kAbsent;                // the first label, after ethertype 0x8847 or 0x8848
  std::uint16_t l3 = kAbsent;                  // the IP header
  std::uint16_t l4 = kAbsent;                  // the transport header; absent in later fragments
  std::uint16_t ethertype = 0;                 // the value at ethertype_at; without a MAC header, the tunnel's
  std::uint32_t l3_end = 0;                    // one past the IP packet's last byte inside the frame
  std::uint8_t ip_version = 0;                 // 4, 6, or 0 without an IP header
  std::uint8_t ip_protocol = 0;                // after the IPv6 extension headers
  Transport transport = Transport::kNone;
  bool fragment = false;          // any fragment, also the first
  bool final_destination = true;  // false: an IPv6 routing header has the pseudo header's destination
  bool l3_ok = false;             // version, header length and total length are valid
  bool l4_ok = false;             // the transport header's lengths are valid

  bool has_mac() const { return mac != kAbsent; }
  bool has_ip() const { return l3 != kAbsent; }
};

enum class Tunnel : std::uint8_t {
  kNone,
  kVxlan,
  kVxlanGpe,
  kGeneve,
  kGre,
  kMplsOverGre,
  kMplsOverUdp,
  kGtpU,
  kIpInIp
};

struct Layers {
  HeaderSet outer;
  HeaderSet inner;                         // of the outermost tunnel; all absent without a tunnel
  Tunnel tunnel = Tunnel::kNone;           // the kind of tunnel header, for any payload
  std::uint16_t tunnel_header = kAbsent;   // the first byte after UDP or IP; for IP-in-IP the inner IP header
  std::uint16_t tunnel_payload = kAbsent;  // the first byte after the tunnel's header and options
  std::uint16_t tunnel_mpls = kAbsent;     // the first label of an MPLS stack in UDP or GRE
  std::uint16_t gre = kAbsent;             // any GRE header of version 0, for any payload
  std::uint16_t bth = kAbsent;             // a RoCE v2 base transport header, of the inner packet if the outer has none

  bool has_inner_mac() const { return inner.has_mac(); }
  bool has_inner_ip() const { return inner.has_ip(); }
};

enum class Lengths : std::uint8_t {
  kChecked,  // of a frame
  kIgnored,  // for an encapsulation's headers, whose lengths are filled in later
};

Layers parse(const std::uint8_t* data, std::uint32_t size, Lengths lengths = Lengths::kChecked);

// An Ethernet frame without FCS, in a buffer of the caller's with room before and after it, so that headers are added
// and removed in place.

struct Frame {
  std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t headroom = 0;  // bytes before `data` that may be written
  std::uint32_t tailroom = 0;  // bytes after the frame that may be written

  // Removes `bytes` <= size from the front.
  void strip(std::uint32_t bytes) {
    data += bytes;
    size -= bytes;
    headroom += bytes;
  }
  // Adds `bytes` of undefined content at the front; false without the headroom.
  bool extend(std::uint32_t bytes) {
    if (bytes > headroom) return false;
    data -= bytes;
    size += bytes;
    headroom -= bytes;
    return true;
  }
};

}  // namespace verbs::mlx5::steering
