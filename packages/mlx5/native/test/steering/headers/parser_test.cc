// The headers that the parser finds, and that it finds no others.
#include "steering/headers/parser.h"

#include <doctest/doctest.h>

#include <map>

#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

namespace {

Layers parse_exactly(const Bytes& frame) {
  const FrameBuffer buffer(frame, 0);
  return parse(buffer.frame().data, buffer.frame().size);
}

FrameModel udp_frame() {
  FrameModel frame;
  frame.ip.source = ipv4_address(0x0a000001);
  frame.ip.destination = ipv4_address(0x0a000002);
  frame.ip.protocol = 17;
  frame.l4 = L4::kUdp;
  frame.source_port = 1000;
  frame.destination_port = 2000;
  frame.payload = Bytes(40, 'p');
  return frame;
}

TunnelModel tunnel_of(TunnelKind kind, bool carries_mac, int version = 4) {
  TunnelModel tunnel;
  tunnel.kind = kind;
  tunnel.carries_mac = carries_mac;
  tunnel.ip.version = version;
  tunnel.id = 0x123456;
  return tunnel;
}

Bytes tunnelled(const TunnelModel& tunnel, const FrameModel& inner) {
  const Bytes payload = tunnel.carries_mac ? inner.bytes() : inner.packet_bytes();
  return tunnel.outer(tunnel.carries_mac ? 0 : inner.ip.version, 50000, payload.size(), true) + payload;
}

const std::map<TunnelKind, Tunnel> kTunnels = {
    {TunnelKind::kVxlan, Tunnel::kVxlan},   {TunnelKind::kVxlanGpe, Tunnel::kVxlanGpe},
    {TunnelKind::kGeneve, Tunnel::kGeneve}, {TunnelKind::kGre, Tunnel::kGre},
    {TunnelKind::kNvgre, Tunnel::kGre},     {TunnelKind::kMplsOverUdp, Tunnel::kMplsOverUdp},
    {TunnelKind::kGtpU, Tunnel::kGtpU},     {TunnelKind::kMplsOverGre, Tunnel::kMplsOverGre},
    {TunnelKind::kIpInIp, Tunnel::kIpInIp},
};

// No offset is outside of the frame, and every header is complete.
void check_bounds(const Layers& layers, std::size_t size) {
  const auto inside = [&](std::uint32_t at, std::uint32_t bytes) { return at == kAbsent || at + bytes <= size; };
  for (const HeaderSet* set : {&layers.outer, &layers.inner}) {
    CHECK(inside(set->mac, 14));
    CHECK(inside(set->vlan[0], 6));
    CHECK(inside(set->vlan[1], 6));
    CHECK(inside(set->mpls, 4));
    CHECK(inside(set->l3, set->ip_version == 6 ? 40 : 20));
    CHECK(inside(set->l4, set->transport == Transport::kTcp ? 20 : 8));
    CHECK(set->l3_end <= size);
  }
  CHECK(inside(layers.tunnel_header, 1));
  CHECK(inside(layers.tunnel_payload, 0));
  CHECK(inside(layers.tunnel_mpls, 4));
  CHECK(inside(layers.gre, 4));
  CHECK(inside(layers.bth, 12));
}

}  // namespace

TEST_CASE("plain frames: the offsets of their headers") {
  FrameModel frame = udp_frame();
  Layers layers = parse_exactly(frame.bytes());
  CHECK(layers.outer.mac == 0);
  CHECK(layers.outer.l3 == 14);
  CHECK(layers.outer.l4 == 34);
  CHECK(layers.outer.l3_ok);
  CHECK(layers.outer.l4_ok);
  CHECK(layers.tunnel == Tunnel::kNone);

  frame.tags = {{0x88a8, 5}, {0x8100, 6}};
  frame.ip.options = Bytes(8, 1);
  layers = parse_exactly(frame.bytes());
  CHECK(layers.outer.vlan[0] == 12);
  CHECK(layers.outer.vlan[1] == 16);
  CHECK(layers.outer.ethertype == 0x0800);
  CHECK(layers.outer.l4 == 22 + 28);

  frame.tags.push_back({0x8100, 7});
  layers = parse_exactly(frame.bytes());
  CHECK(layers.outer.ethertype == 0x8100);  // a third tag is not known
  CHECK_FALSE(layers.outer.has_ip());

  frame = udp_frame();
  frame.ip.version = 6;
  frame.ip.extensions = {0, 60};
  layers = parse_exactly(frame.bytes());
  CHECK(layers.outer.ip_protocol == 17);
  CHECK(layers.outer.l4 == 14 + 40 + 16);
}

TEST_CASE("every tunnel over IPv4 and IPv6 is recognised, with its payload") {
  for (const auto& [kind, expected] : kTunnels) {
    for (const int version : {4, 6}) {
      for (const int inner_version : {4, 6}) {
        for (const bool carries_mac : {false, true}) {
          TunnelModel tunnel = tunnel_of(kind, carries_mac, version);
          if (carries_mac ? !tunnel.can_carry_mac() : tunnel.must_carry_mac()) continue;
          tunnel.has_extension = true;
          tunnel.options = from_hex("0102800100000001");
          FrameModel inner = udp_frame();
          inner.ip.version = inner_version;
          const Bytes frame = tunnelled(tunnel, inner);
          const Layers layers = parse_exactly(frame);
          CAPTURE(static_cast<int>(kind));
          CAPTURE(version);
          CHECK(layers.tunnel == expected);
          CHECK(layers.has_inner_mac() == carries_mac);
          CHECK(layers.inner.ip_version == inner_version);
          CHECK(layers.inner.transport == Transport::kUdp);
          const std::size_t payload = carries_mac ? inner.bytes().size() : inner.packet_bytes().size();
          CHECK(layers.tunnel_payload == frame.size() - payload);
          CHECK(layers.inner.l3 == frame.size() - inner.packet_bytes().size());
        }
      }
    }
  }
}

TEST_CASE("only the outermost tunnel is entered") {
  const FrameModel inner = udp_frame();
  const TunnelModel vxlan = tunnel_of(TunnelKind::kVxlan, true);
  const Bytes once = tunnelled(vxlan, inner);
  const Bytes twice = vxlan.outer(0, 50000, once.size(), true) + once;
  const Layers layers = parse_exactly(twice);
  CHECK(layers.tunnel_payload == 50);
  CHECK(layers.inner.mac == 50);
  CHECK(layers.inner.transport == Transport::kUdp);
}

TEST_CASE("a truncated frame is parsed within its bounds") {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const TunnelModel tunnel = random.tunnel();
    FrameModel inner = random.frame();
    inner.payload.resize(20);
    if (!tunnel.carries_mac) inner.is_ip = true;
    const Bytes frame = tunnelled(tunnel, inner);
    for (std::size_t size = 0; size <= frame.size(); ++size) {
      check_bounds(parse_exactly(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size))), size);
    }
  }
}

TEST_CASE("wrong lengths are reported, and bytes after the IP packet are not parsed") {
  FrameModel model = udp_frame();
  Bytes frame = model.bytes();
  SUBCASE("longer than the frame") {
    frame[16] = 0xff;
    const Layers layers = parse_exactly(frame);
    CHECK_FALSE(layers.outer.l3_ok);
    CHECK(layers.outer.transport == Transport::kUdp);
  }
  SUBCASE("shorter than its own header") {
    frame[16] = 0;
    frame[17] = 19;
    const Layers layers = parse_exactly(frame);
    CHECK(layers.outer.has_ip());
    CHECK_FALSE(layers.outer.l3_ok);
    CHECK(layers.outer.transport == Transport::kNone);
  }
  SUBCASE("padding is not payload") {
    model.destination_port = 4789;
    model.payload = {};
    const Layers layers = parse_exactly(model.bytes() + Bytes(40));
    CHECK(layers.outer.l3_ok);
    CHECK(layers.tunnel == Tunnel::kNone);
  }
  SUBCASE("an IPv4 header of less than 20 bytes, or of another version, is not one") {
    frame[14] = 0x44;
    CHECK_FALSE(parse_exactly(frame).outer.has_ip());
    frame[14] = 0x65;
    CHECK_FALSE(parse_exactly(frame).outer.has_ip());
  }
  SUBCASE("a UDP length beyond the packet") {
    frame[38] = 0x40;
    const Layers layers = parse_exactly(frame);
    CHECK(layers.outer.l3_ok);
    CHECK_FALSE(layers.outer.l4_ok);
    CHECK(layers.outer.transport == Transport::kUdp);
  }
}

TEST_CASE("fragments: the first has a transport header, and none is a tunnel") {
  TunnelModel tunnel = tunnel_of(TunnelKind::kVxlan, true);
  tunnel.ip.fragment = 0x2000;  // more follow
  Layers layers = parse_exactly(tunnelled(tunnel, udp_frame()));
  CHECK(layers.outer.fragment);
  CHECK(layers.outer.transport == Transport::kUdp);
  CHECK(layers.tunnel == Tunnel::kNone);

  tunnel.ip.fragment = 0x2000 | 100;
  layers = parse_exactly(tunnelled(tunnel, udp_frame()));
  CHECK(layers.outer.fragment);
  CHECK(layers.outer.transport == Transport::kNone);
}

TEST_CASE("IPv6 fragment and routing headers") {
  FrameModel frame = udp_frame();
  frame.ip.version = 6;
  frame.ip.extensions = {44};
  Bytes bytes = frame.bytes();
  const std::size_t header = 14 + 40;
  // The model's header of eight bytes, read as a fragment header: 0x0104 is offset 32, no more.
  CHECK(parse_exactly(bytes).outer.fragment);
  CHECK(parse_exactly(bytes).outer.transport == Transport::kNone);
  bytes[header + 2] = bytes[header + 3] = 0;  // an atomic fragment is whole
  CHECK_FALSE(parse_exactly(bytes).outer.fragment);
  CHECK(parse_exactly(bytes).outer.transport == Transport::kUdp);
  bytes[header + 3] = 1;
  CHECK(parse_exactly(bytes).outer.fragment);
  CHECK(parse_exactly(bytes).outer.transport == Transport::kUdp);

  frame.ip.extensions = {43};
  bytes = frame.bytes();
  CHECK_FALSE(parse_exactly(bytes).outer.final_destination);
  bytes[header + 3] = 0;
  CHECK(parse_exactly(bytes).outer.final_destination);
}

TEST_CASE("parsing of an endless chain of IPv6 extension headers ends") {
  FrameModel frame = udp_frame();
  frame.ip.version = 6;
  frame.ip.extensions = std::vector<std::uint8_t>(40, 60);
  const Layers layers = parse_exactly(frame.bytes());
  CHECK(layers.outer.has_ip());
  CHECK(layers.outer.transport == Transport::kNone);
}

TEST_CASE("RoCE v2 is not a tunnel") {
  FrameModel frame = udp_frame();
  frame.destination_port = 4791;
  const Layers layers = parse_exactly(frame.bytes());
  CHECK(layers.bth == 42);
  CHECK(layers.tunnel == Tunnel::kNone);
}

TEST_CASE("only user packets of GTP have a payload") {
  TunnelModel tunnel = tunnel_of(TunnelKind::kGtpU, false);
  Bytes frame = tunnelled(tunnel, udp_frame());
  frame[43] = 1;  // an echo request
  CHECK(parse_exactly(frame).tunnel == Tunnel::kGtpU);
  CHECK_FALSE(parse_exactly(frame).has_inner_ip());
  frame[42] = 0x50;  // another version
  CHECK(parse_exactly(frame).tunnel == Tunnel::kNone);
}

TEST_CASE("an MPLS stack ends with its bottom label; without one it has no payload") {
  Bytes label = from_hex("00010040");
  const Bytes bottom = from_hex("00011140"), inner = udp_frame().packet_bytes();
  FrameModel outer = udp_frame();
  outer.destination_port = 6635;
  outer.payload = label + label + bottom + inner;
  Layers layers = parse_exactly(outer.bytes());
  CHECK(layers.tunnel == Tunnel::kMplsOverUdp);
  CHECK(layers.tunnel_mpls == 42);
  CHECK(layers.inner.l3 == 42 + 12);
  outer.payload = label + label + label;
  layers = parse_exactly(outer.bytes());
  CHECK(layers.tunnel == Tunnel::kNone);
  CHECK(layers.tunnel_mpls == 42);
}

TEST_CASE("random bytes, and frames with changed bytes, are parsed within their bounds") {
  Random random(11);
  for (int round = 0; round < 20'000; ++round) {
    const TunnelModel tunnel = random.tunnel();
    FrameModel inner = random.frame();
    if (!tunnel.carries_mac) inner.is_ip = true;
    Bytes frame = random.one_in(4) ? random.bytes(random.below(200)) : tunnelled(tunnel, inner);
    for (std::uint32_t changes = random.below(6); changes > 0 && !frame.empty(); --changes) {
      frame[random.below(static_cast<std::uint32_t>(std::min<std::size_t>(frame.size(), 120)))] =
          random.any<std::uint8_t>();
    }
    check_bounds(parse_exactly(frame), frame.size());
  }
}

}  // namespace verbs::mlx5::steering::test
