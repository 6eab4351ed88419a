// The match parameters of tunnels and of metadata. The property test covers those of plain frames.
#include "steering/packet/match_key.h"

#include <doctest/doctest.h>

#include "steering/packet/packet.h"
#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

namespace {

constexpr SectionMask kAll = 0x3ff;
constexpr std::uint32_t kMisc = 0x40, kInnerAt = 0x80, kMisc2 = 0xc0, kMisc3 = 0x100, kMisc5 = 0x180;

Bytes key_of(const Bytes& frame, const GeneveOption& option = {}, const Origin& origin = {}) {
  const FrameBuffer buffer(frame, 0);
  Packet packet(buffer.frame(), origin);
  const std::uint8_t* key = packet.key(kAll, option).bytes();
  return {key, key + kMatchSize};
}

std::uint64_t number(const Bytes& key, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | key[at + i];
  return value;
}

FrameModel inner_frame() {
  FrameModel frame;
  frame.dmac = 0x0250'0000'0002;
  frame.smac = 0x0250'0000'0001;
  frame.tags = {{0x8100, 0x6123}, {0x88a8, 0x0456}};
  frame.ip.source = ipv4_address(0x0a000001);
  frame.ip.destination = ipv4_address(0x0a000002);
  frame.ip.protocol = 6;
  frame.l4 = L4::kTcp;
  frame.source_port = 1000;
  frame.destination_port = 2000;
  frame.sequence = 0x11223344;
  frame.acknowledgement = 0x55667788;
  return frame;
}

Bytes tunnelled(const TunnelModel& tunnel, const FrameModel& inner) {
  const Bytes payload = tunnel.carries_mac ? inner.bytes() : inner.packet_bytes();
  return tunnel.outer(tunnel.carries_mac ? 0 : inner.ip.version, 50000, payload.size(), true) + payload;
}

TunnelModel tunnel_of(TunnelKind kind, bool carries_mac) {
  TunnelModel tunnel;
  tunnel.kind = kind;
  tunnel.carries_mac = carries_mac;
  tunnel.id = 0xa1b2c3;
  return tunnel;
}

}  // namespace

TEST_CASE("the inner headers of a tunnel have a section of their own") {
  const Bytes key = key_of(tunnelled(tunnel_of(TunnelKind::kVxlan, true), inner_frame()));
  CHECK(number(key, 30, 2) == 4789);
  CHECK(number(key, kInnerAt + 8, 6) == 0x0250'0000'0002);
  CHECK(number(key, kInnerAt + 0, 6) == 0x0250'0000'0001);
  CHECK(number(key, kInnerAt + 6, 2) == 0x0800);
  CHECK(number(key, kInnerAt + 14, 2) == 0x6123);
  CHECK(key[kInnerAt + 16] == 6);
  CHECK(number(key, kInnerAt + 18, 2) == (0x8000 | 4 << 9));
  CHECK(number(key, kInnerAt + 20, 2) == 1000);
  CHECK(number(key, kInnerAt + 22, 2) == 2000);
  CHECK(number(key, kInnerAt + 44, 4) == 0x0a000001);
  CHECK(number(key, kInnerAt + 60, 4) == 0x0a000002);
  CHECK(number(key, kMisc + 10, 2) == 0x0456);  // the inner second tag
  CHECK(key[kMisc + 12] == 0x10);               // which is a service tag
  CHECK(number(key, kMisc3 + 0, 4) == 0x11223344);
  CHECK(number(key, kMisc3 + 8, 4) == 0x55667788);
  CHECK(number(key, kMisc3 + 4, 4) == 0);
  CHECK(number(key, kMisc + 20, 3) == 0xa1b2c3);  // the VNI
  CHECK(number(key, kMisc5 + 16, 8) == 0x08000000a1b2c300);
}

TEST_CASE("the fields of each tunnel's header, and none of another's") {
  const auto key = [](const TunnelModel& tunnel) { return key_of(tunnelled(tunnel, inner_frame())); };
  struct Field {
    TunnelKind kind;
    bool carries_mac;
    std::uint32_t at, bytes;
    std::uint64_t value;
  };
  const Field fields[] = {
      {TunnelKind::kVxlan, true, kMisc + 20, 3, 0xa1b2c3},
      {TunnelKind::kVxlanGpe, true, kMisc3 + 17, 3, 0xa1b2c3},
      {TunnelKind::kVxlanGpe, false, kMisc3 + 20, 2, 0x010c},
      {TunnelKind::kGeneve, true, kMisc + 24, 3, 0xa1b2c3},
      {TunnelKind::kGeneve, false, kMisc + 38, 2, 0x0800},
      {TunnelKind::kGre, true, kMisc + 16, 4, 0xa1b2c3},
      {TunnelKind::kNvgre, true, kMisc + 16, 4, 0xa1b2c300},
      {TunnelKind::kGre, false, kMisc + 14, 2, 0x0800},
      {TunnelKind::kMplsOverUdp, false, kMisc2 + 12, 4, 0x1b2c3140},
      {TunnelKind::kMplsOverGre, false, kMisc2 + 8, 4, 0x1b2c3140},
      {TunnelKind::kGtpU, false, kMisc3 + 40, 4, 0xa1b2c3},
      {TunnelKind::kGtpU, false, kMisc3 + 44, 2, 0xff30},
      {TunnelKind::kGtpU, false, kMisc3 + 56, 2, 0x30ff},
  };
  for (const Field& field : fields) {
    CAPTURE(field.at);
    CHECK(number(key(tunnel_of(field.kind, field.carries_mac)), field.at, field.bytes) == field.value);
    const TunnelModel other =
        tunnel_of(field.kind == TunnelKind::kGeneve ? TunnelKind::kVxlan : TunnelKind::kGeneve, true);
    CHECK(number(key(other), field.at, field.bytes) != field.value);
  }
  TunnelModel gre = tunnel_of(TunnelKind::kGre, true);
  gre.has_checksum = gre.has_sequence = true;
  CHECK(key(gre)[kMisc] == 0xb0);
  CHECK(number(key(gre), kMisc + 16, 4) == 0xa1b2c3);
  gre.has_key = false;
  CHECK(key(gre)[kMisc] == 0x90);
  CHECK(number(key(gre), kMisc + 16, 4) == 0);
  TunnelModel gtp = tunnel_of(TunnelKind::kGtpU, false);
  gtp.has_extension = true;
  CHECK(number(key(gtp), kMisc3 + 48, 4) == 0x00000085);
  CHECK(number(key(gtp), kMisc3 + 52, 4) == 0x01100100);
}

TEST_CASE("a GENEVE option is matched once it is configured") {
  TunnelModel tunnel = tunnel_of(TunnelKind::kGeneve, true);
  tunnel.options = from_hex("0001020100000001 0102a502cafebabe00000000");
  const Bytes frame = tunnelled(tunnel, inner_frame());
  CHECK(key_of(frame)[kMisc + 37] == 5);  // words of options
  CHECK(key_of(frame)[kMisc + 27] == 0);
  const GeneveOption known{true, 0x0102, 0xa5};
  CHECK(key_of(frame, known)[kMisc + 27] == 2);
  CHECK(number(key_of(frame, known), kMisc3 + 36, 4) == 0xcafebabe);
  const GeneveOption absent{true, 0x0102, 0x25};
  CHECK(key_of(frame, absent)[kMisc + 27] == 0);
  CHECK(number(key_of(frame, absent), kMisc3 + 36, 4) == 0);

  Bytes oam = frame;
  oam[43] = 0x80;
  CHECK(key_of(oam)[kMisc + 27] == 1);
  Bytes broken = frame;
  broken[50 + 3] = 0x1f;  // an option longer than all of them
  CHECK(key_of(broken, known)[kMisc + 27] == 0);
}

TEST_CASE("RoCE, ESP, ICMP and MPLS fields") {
  FrameModel frame = inner_frame();
  frame.tags.clear();
  frame.l4 = L4::kUdp;
  frame.ip.protocol = 17;
  frame.destination_port = 4791;
  frame.payload = from_hex("81000000 000000d2 80000001");
  Bytes key = key_of(frame.bytes());
  CHECK(key[kMisc + 23] == 0x81);
  CHECK(number(key, kMisc + 41, 3) == 0xd2);
  CHECK(key[kMisc] == 0x40);  // acknowledge request

  frame.l4 = L4::kEsp;
  frame.ip.protocol = 50;
  CHECK(number(key_of(frame.bytes()), kMisc + 48, 4) == 0x11223344);
  CHECK(number(key_of(tunnelled(tunnel_of(TunnelKind::kVxlan, true), frame)), kMisc + 44, 4) == 0x11223344);

  frame.l4 = L4::kIcmp;
  frame.ip.protocol = 1;
  key = key_of(frame.bytes());
  CHECK(number(key, kMisc3 + 32, 4) == 0x08000000);
  CHECK(number(key, kMisc3 + 24, 4) == (1000 << 16 | 4791));
  frame.ip.version = 6;
  frame.ip.protocol = 58;
  key = key_of(frame.bytes());
  CHECK(number(key, kMisc3 + 32, 4) == 0x00008000);
  CHECK(number(key, kMisc3 + 28, 4) == (1000 << 16 | 4791));
  CHECK(number(key_of(tunnelled(tunnel_of(TunnelKind::kVxlan, true), frame)), kMisc3 + 34, 1) == 128);

  frame.is_ip = false;
  frame.ethertype = 0x8847;
  frame.payload = from_hex("12345678 45000000");
  CHECK(number(key_of(frame.bytes()), kMisc2 + 0, 4) == 0x12345678);
  CHECK(number(key_of(tunnelled(tunnel_of(TunnelKind::kVxlan, true), frame)), kMisc2 + 4, 4) == 0x12345678);
}

TEST_CASE("the origin of a frame, and the registers") {
  const Bytes frame = inner_frame().bytes();
  const Bytes key = key_of(frame, {}, {0x123456, 7, 9, 3});
  CHECK(key[kMisc] == 3);
  CHECK(number(key, kMisc + 1, 3) == 0x123456);
  CHECK(number(key, kMisc + 4, 2) == 9);
  CHECK(number(key, kMisc + 6, 2) == 7);

  const FrameBuffer buffer(frame, 0);
  Packet packet(buffer.frame());
  packet.key(kAll, {});
  for (std::uint32_t i = 0; i < 8; ++i) packet.change_registers().c[i] = 100 + i;
  packet.change_registers().a = 200;
  packet.change_registers().b = 201;
  const std::uint8_t* bytes = packet.key(kAll, {}).bytes();
  const Bytes after(bytes, bytes + kMatchSize);
  for (std::size_t i = 0; i < 8; ++i) CHECK(number(after, kMisc2 + 16 + 4 * (7 - i), 4) == 100 + i);
  CHECK(number(after, kMisc2 + 48, 4) == 200);
  CHECK(number(after, kMisc2 + 52, 4) == 201);
}

TEST_CASE("a packet too short for any header has match parameters of zero") {
  CHECK(key_of(Bytes(13, 0xff)) == Bytes(kMatchSize));
}

}  // namespace verbs::mlx5::steering::test
