// Modify header: the cases that the property test does not reach, and invalid entries.
#include <doctest/doctest.h>

#include "steering/actions/modify_header.h"
#include "test/support/steering/modify_model.h"
#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

namespace {

Bytes entry(ModifyEntry::Type type, std::uint16_t field, std::uint8_t offset, std::uint8_t length,
            std::uint32_t value) {
  ModifyEntry entry;
  entry.type = type;
  entry.field = field;
  entry.offset = offset;
  entry.length = length;
  entry.value = value;
  return entry.bytes();
}

Bytes set(std::uint16_t field, std::uint8_t length, std::uint32_t value) {
  return entry(ModifyEntry::kSet, field, 0, length, value);
}

std::shared_ptr<const ModifyHeader> make(const Bytes& entries) {
  ModifyProblem problem{};
  auto list = ModifyHeader::create(entries, &problem);
  REQUIRE(problem == ModifyProblem::kNone);
  return list;
}

Bytes modify(const Bytes& frame, const Bytes& entries) {
  const FrameBuffer buffer(frame);
  Packet packet(buffer.frame());
  make(entries)->apply(packet);
  return bytes_of(packet.frame());
}

FrameModel udp_frame(int version = 4) {
  FrameModel frame;
  frame.ip.version = version;
  frame.ip.source = ipv4_address(0x0a000001);
  frame.ip.destination = ipv4_address(0x0a000002);
  frame.ip.protocol = 17;
  frame.l4 = L4::kUdp;
  frame.source_port = 1000;
  frame.destination_port = 2000;
  frame.payload = Bytes(30, 'p');
  return frame;
}

constexpr std::uint16_t kEthertype = 3, kUdpDport = 0xc, kDipv4 = 0x16, kInnerDipv4 = 0x46, kInnerSmacLow = 0x32,
                        kInnerTtl = 0x3a, kTeid = 0x6e;

}  // namespace

TEST_CASE("a UDP checksum of zero stays, and a computed zero is written as ones") {
  FrameModel frame = udp_frame();
  frame.has_udp_checksum = false;
  const Bytes without = modify(frame.bytes(), set(kDipv4, 32, 0x0b000003));
  CHECK(without[40] == 0);
  CHECK(without[41] == 0);
  frame.has_udp_checksum = true;
  // Each port once: among them the one for which the sum is zero.
  int ones = 0;
  for (std::uint32_t port = 0; port <= 0xffff; ++port) {
    const Bytes changed = modify(frame.bytes(), set(kUdpDport, 16, port));
    FrameModel expected = frame;
    expected.destination_port = static_cast<std::uint16_t>(port);
    REQUIRE(changed == expected.bytes());
    ones += changed[40] == 0xff && changed[41] == 0xff ? 1 : 0;
  }
  CHECK(ones == 1);
}

TEST_CASE("inner fields: the checksums of both packets are updated") {
  TunnelModel tunnel;
  tunnel.kind = TunnelKind::kVxlan;
  for (const bool outer_checksum : {false, true}) {
    FrameModel inner = udp_frame(), outer = udp_frame();
    outer.destination_port = 4789;
    outer.has_udp_checksum = outer_checksum;
    const auto bytes = [&] {
      outer.payload = tunnel.header(0) + inner.bytes();
      return outer.bytes();
    };
    const Bytes before = bytes();
    const Bytes after =
        modify(before, set(kInnerDipv4, 32, 0x0c0d0e0f) + set(kInnerSmacLow, 16, 0x4321) + set(kInnerTtl, 8, 9));
    inner.ip.destination = ipv4_address(0x0c0d0e0f);
    inner.smac = 0x4321;
    inner.ip.ttl = 9;
    CHECK(to_hex(after) == to_hex(bytes()));
  }
}

TEST_CASE("a GRE checksum is updated with the inner packet") {
  FrameModel inner = udp_frame();
  const auto bytes = [&] {
    Bytes gre = from_hex("80006558 00000000") + inner.bytes();
    const std::uint16_t checksum = internet_checksum(gre);
    gre[4] = static_cast<std::uint8_t>(checksum >> 8);
    gre[5] = static_cast<std::uint8_t>(checksum);
    FrameModel outer;
    outer.ip.protocol = 47;
    outer.payload = gre;
    return outer.bytes();
  };
  const Bytes before = bytes();
  const Bytes after = modify(before, set(kInnerSmacLow, 16, 0x4321) + set(kInnerDipv4, 32, 1));
  inner.smac = 0x4321;
  inner.ip.destination = ipv4_address(1);
  CHECK(to_hex(after) == to_hex(bytes()));
}

TEST_CASE("the tunnel endpoint of GTP-U") {
  TunnelModel tunnel;
  tunnel.kind = TunnelKind::kGtpU;
  tunnel.carries_mac = false;
  tunnel.id = 1;
  const Bytes inner = udp_frame().packet_bytes();
  const Bytes before = tunnel.outer(4, 50000, inner.size(), true) + inner;
  tunnel.id = 0x01020304;
  CHECK(modify(before, set(kTeid, 32, 0x01020304)) == tunnel.outer(4, 50000, inner.size(), true) + inner);
  CHECK(modify(udp_frame().bytes(), set(kTeid, 32, 0x01020304)) == udp_frame().bytes());
}

TEST_CASE("after a change of ethertype or port the frame is parsed again") {
  const FrameBuffer buffer(udp_frame().bytes());
  Packet packet(buffer.frame());
  make(set(kEthertype, 16, 0x88b5))->apply(packet);
  CHECK_FALSE(packet.layers().outer.has_ip());
  make(set(kEthertype, 16, 0x0800) + set(kUdpDport, 16, 4789))->apply(packet);
  CHECK(packet.layers().outer.has_ip());
  CHECK(packet.layers().tunnel == Tunnel::kNone);  // the frame is IP for the next list only
  make(set(kUdpDport, 16, 4789))->apply(packet);
  CHECK(packet.layers().tunnel == Tunnel::kVxlan);
}

TEST_CASE("an address in front of a routing header is not in the pseudo header") {
  FrameModel frame = udp_frame(6);
  frame.ip.extensions = {43};
  const Bytes before = frame.bytes();
  const Bytes after = modify(before, set(0x14, 32, 0xffff1234));
  CHECK(Bytes(after.begin() + 54, after.end()) == Bytes(before.begin() + 54, before.end()));
  CHECK(after != before);
}

TEST_CASE("an add of all ones subtracts one") {
  FrameModel frame = udp_frame();
  const Bytes after = modify(frame.bytes(), entry(ModifyEntry::kAdd, 0xa, 0, 8, 0xff));
  frame.ip.ttl = 63;
  CHECK(to_hex(after) == to_hex(frame.bytes()));
}

TEST_CASE("invalid lists, with the index of the invalid entry") {
  const auto problem_of = [](const Bytes& entries, std::size_t expected_entry) {
    ModifyProblem problem{};
    std::size_t at = 99;
    CHECK(ModifyHeader::create(entries, &problem, &at) == nullptr);
    CHECK(at == expected_entry);
    return problem;
  };
  const Bytes good = set(kUdpDport, 16, 1);
  CHECK(problem_of({}, 0) == ModifyProblem::kSize);
  CHECK(problem_of(Bytes(7), 0) == ModifyProblem::kSize);
  CHECK(problem_of(good + Bytes(4), 0) == ModifyProblem::kSize);
  CHECK(problem_of(good + Bytes(8), 1) == ModifyProblem::kType);
  CHECK(problem_of(good + good + from_hex("4001000000000000"), 2) == ModifyProblem::kType);
  CHECK(problem_of(set(0, 8, 0), 0) == ModifyProblem::kField);
  CHECK(problem_of(set(0xfff, 8, 0), 0) == ModifyProblem::kField);
  CHECK(problem_of(set(0x18, 8, 0), 0) == ModifyProblem::kField);
  CHECK(problem_of(set(kUdpDport, 17, 0), 0) == ModifyProblem::kBits);
  CHECK(problem_of(set(kUdpDport, 32, 0), 0) == ModifyProblem::kBits);
  CHECK(problem_of(entry(ModifyEntry::kSet, kUdpDport, 1, 16, 0), 0) == ModifyProblem::kBits);
  ModifyEntry copy;
  copy.type = ModifyEntry::kCopy;
  copy.field = 0x15;
  copy.length = 32;
  copy.to_field = kUdpDport;
  CHECK(problem_of(copy.bytes(), 0) == ModifyProblem::kBits);
  copy.to_field = 0xabc;
  CHECK(problem_of(copy.bytes(), 0) == ModifyProblem::kField);
  copy.field = 0xabc;
  CHECK(problem_of(copy.bytes(), 0) == ModifyProblem::kField);
}

}  // namespace verbs::mlx5::steering::test
