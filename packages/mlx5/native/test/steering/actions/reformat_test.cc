// The result of each reformat type, for every tunnel, and the reverse.
#include "steering/actions/reformat.h"

#include <doctest/doctest.h>

#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

namespace {

const Bytes kMac = from_hex("0150561920a7248a07a528c80800");

// 100 bytes: UDP 1234 to 5678 over IPv4 without any checksum.
Bytes inner_frame() {
  return kMac + from_hex("4500005600004000401100000101010102020202 04d2162e00420000") + Bytes(58, 'a');
}

std::shared_ptr<const Reformat> make(ReformatType type, const Bytes& data, const ReformatOptions& options = {}) {
  ReformatProblem problem{};
  auto reformat = Reformat::create(type, data, options, &problem);
  REQUIRE(problem == ReformatProblem::kNone);
  REQUIRE(reformat != nullptr);
  return reformat;
}

Bytes transform(const Reformat& reformat, const Bytes& frame) {
  const FrameBuffer buffer(frame);
  Packet packet(buffer.frame());
  CHECK_FALSE(reformat.apply(packet).has_value());
  return bytes_of(packet.frame());
}

struct Example {
  const char* name;
  ReformatType type;
  const char* header;    // after the MAC header, as given
  const char* expected;  // the same in the encapsulated frame
  std::size_t size;      // of the whole frame
};

// IPv4 headers with DF, time to live 64, lengths and checksums 0; the identification is kept as given.
const Example kExamples[] = {
    {"VXLAN", ReformatType::kL2ToL2Tunnel, "4500000000004000401100000101010102020202 000012b500000000 0800000076adf100",
     "4500008800004000401134600101010102020202 d69f12b500740000 0800000076adf100", 150},
    {"GENEVE", ReformatType::kL2ToL2Tunnel,
     "4500000000004000401100000101010102020202 000017c100000000 0000655800000200",
     "4500008800004000401134600101010102020202 d69f17c100740000 0000655800000200", 150},
    {"GRE bridging", ReformatType::kL2ToL2Tunnel, "4500000000004000402f00000101010102020202 2000655812345678",
     "4500008000004000402f344a0101010102020202 2000655812345678", 142},
    {"GRE IPv4", ReformatType::kL2ToL3Tunnel, "4500000000004000402f00000101010102020202 2000080012345678",
     "4500007200004000402f34580101010102020202 2000080012345678", 128},
    {"MPLS over UDP", ReformatType::kL2ToL3Tunnel, "4500000000004000401100000101010102020202 000019eb00000000 00010140",
     "4500007600004000401134720101010102020202 d69f19eb00620000 00010140", 132},
    {"NVGRE", ReformatType::kL2ToL2Tunnel, "4500000000004000402f00000101010102020202 2000655800002a00",
     "4500008000004000402f344a0101010102020202 2000655800002a9f", 142},
};

}  // namespace

TEST_CASE("encapsulation gives the bytes of the worked examples, and decapsulation removes them") {
  const Bytes inner = inner_frame();
  REQUIRE(inner.size() == 100);
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    const Bytes outer = kMac + from_hex(example.header);
    const Bytes frame = transform(*make(example.type, outer), inner);
    CHECK(frame.size() == example.size);
    const bool is_l2 = example.type == ReformatType::kL2ToL2Tunnel;
    const Bytes payload(inner.begin() + (is_l2 ? 0 : 14), inner.end());
    CHECK(to_hex(frame) == to_hex(kMac + from_hex(example.expected) + payload));

    const auto decap = is_l2 ? make(ReformatType::kL2TunnelToL2, {}) : make(ReformatType::kL3TunnelToL2, kMac);
    CHECK(to_hex(transform(*decap, frame)) == to_hex(inner));
  }
}

TEST_CASE("every kind of tunnel, over IPv4 and IPv6: encapsulation and decapsulation") {
  Random random(3);
  for (int round = 0; round < 400; ++round) {
    TunnelModel tunnel = random.tunnel();
    FrameModel inner = random.frame();
    if (!tunnel.carries_mac) inner.is_ip = true;
    const auto type = tunnel.carries_mac ? ReformatType::kL2ToL2Tunnel : ReformatType::kL2ToL3Tunnel;
    const int carried = tunnel.carries_mac ? 0 : inner.ip.version;
    const Bytes frame = transform(*make(type, tunnel.outer(carried, 0, 0, false)), inner.bytes());
    const Bytes mac = random.bytes(random.one_in(2) ? 14 : 18);
    const auto decap =
        tunnel.carries_mac ? make(ReformatType::kL2TunnelToL2, {}) : make(ReformatType::kL3TunnelToL2, mac);
    CHECK(to_hex(transform(*decap, frame)) == to_hex(tunnel.carries_mac ? inner.bytes() : mac + inner.packet_bytes()));
  }
}

TEST_CASE("lengths that are correct already stay the same") {
  const Bytes inner = inner_frame();
  TunnelModel tunnel;
  tunnel.ip.source = ipv4_address(0x01010101);
  tunnel.ip.destination = ipv4_address(0x02020202);
  const auto with = make(ReformatType::kL2ToL2Tunnel, tunnel.outer(0, 1, inner.size(), true));
  const auto without = make(ReformatType::kL2ToL2Tunnel, tunnel.outer(0, 1, inner.size(), false));
  CHECK(transform(*with, inner) == transform(*without, inner));
}

TEST_CASE("fields that are not filled in stay as in the data") {
  Bytes data = kMac + from_hex("4500000012344000401100000101010102020202 000012b50000beef 0800000076adf100");
  const Bytes frame = transform(*make(ReformatType::kL2ToL2Tunnel, data), inner_frame());
  CHECK(to_hex({frame.begin() + 18, frame.begin() + 20}) == "1234");  // the identification
  CHECK(to_hex({frame.begin() + 40, frame.begin() + 42}) == "beef");  // the UDP checksum
  data = kMac + from_hex("4500000000004000402f00000101010102020202 2000655800002a07");
  CHECK(transform(*make(ReformatType::kL2ToL2Tunnel, data), inner_frame())[41] == 0x07);  // a flow id that is given
  data[41] = 0;
  CHECK(transform(*make(ReformatType::kL2ToL2Tunnel, data), inner_frame())[41] == 0x9f);
  CHECK(transform(*make(ReformatType::kL2ToL2Tunnel, data, {128, {}, false}), inner_frame())[41] == 0);
}

TEST_CASE("data that is not a header is added at the front unchanged") {
  const Bytes data = from_hex("00112233445566778899");
  CHECK(transform(*make(ReformatType::kL2ToL2Tunnel, data), inner_frame()) == data + inner_frame());
}

TEST_CASE("L3 encapsulation removes the MAC header and every VLAN tag") {
  FrameModel inner;
  inner.tags = {{0x88a8, 1}, {0x8100, 2}};
  inner.ip.protocol = 253;
  inner.payload = Bytes(20, 'x');
  TunnelModel tunnel;
  tunnel.kind = TunnelKind::kIpInIp;
  const Bytes data = tunnel.outer(4, 0, 0, false);
  const Bytes frame = transform(*make(ReformatType::kL2ToL3Tunnel, data), inner.bytes());
  CHECK(frame.size() == data.size() + inner.packet_bytes().size());
  CHECK(to_hex({frame.begin() + 34, frame.end()}) == to_hex(inner.packet_bytes()));
}

TEST_CASE("decapsulation records the virtual network of the tunnel") {
  const FrameBuffer buffer(
      transform(*make(ReformatType::kL2ToL2Tunnel, kMac + from_hex(kExamples[0].header)), inner_frame()));
  Packet packet(buffer.frame());
  CHECK_FALSE(packet.decapsulated);
  make(ReformatType::kL2TunnelToL2, {})->apply(packet);
  CHECK(packet.decapsulated);
  CHECK(packet.tunnel_vni == 7777777);
}

TEST_CASE("invalid actions") {
  const auto problem_of = [](ReformatType type, std::size_t size, std::uint32_t max_size = 128) {
    ReformatProblem problem{};
    const auto created = Reformat::create(type, Bytes(size), {max_size, {}, true}, &problem);
    CHECK((created != nullptr) == (problem == ReformatProblem::kNone));
    return problem;
  };
  using enum ReformatType;
  CHECK(problem_of(kL2TunnelToL2, 0) == ReformatProblem::kNone);
  CHECK(problem_of(kL2TunnelToL2, 14) == ReformatProblem::kUnexpectedData);
  CHECK(problem_of(kL2ToL2Tunnel, 0) == ReformatProblem::kNoData);
  CHECK(problem_of(kL2ToL3Tunnel, 0) == ReformatProblem::kNoData);
  CHECK(problem_of(kL3TunnelToL2, 0) == ReformatProblem::kNoData);
  CHECK(problem_of(kL2ToL2Tunnel, 128) == ReformatProblem::kNone);
  CHECK(problem_of(kL2ToL2Tunnel, 130) == ReformatProblem::kTooLarge);
  CHECK(problem_of(kL2ToL3Tunnel, 129) == ReformatProblem::kTooLarge);
  CHECK(problem_of(kL2ToL2Tunnel, 1023, 1023) == ReformatProblem::kOddSize);
  CHECK(problem_of(kL2ToL3Tunnel, 51) == ReformatProblem::kOddSize);
  CHECK(problem_of(kL3TunnelToL2, 14) == ReformatProblem::kNone);
  CHECK(problem_of(kL3TunnelToL2, 16) == ReformatProblem::kNotMac);
  CHECK(problem_of(kL3TunnelToL2, 18) == ReformatProblem::kNone);
}

TEST_CASE("frames that an action cannot process are dropped, each for its reason") {
  const auto reason_of = [](const Reformat& reformat, const Bytes& frame, std::uint32_t headroom = 128) {
    const FrameBuffer buffer(frame, headroom);
    Packet packet(buffer.frame());
    return reformat.apply(packet);
  };
  const auto l2_decap = make(ReformatType::kL2TunnelToL2, {});
  const auto l3_decap = make(ReformatType::kL3TunnelToL2, kMac);
  CHECK(reason_of(*l2_decap, inner_frame()) == DropReason::kNoTunnel);
  CHECK(reason_of(*l3_decap, inner_frame()) == DropReason::kNoTunnel);
  CHECK(reason_of(*l3_decap, {}) == DropReason::kNoTunnel);

  const Bytes gre_ip =
      transform(*make(ReformatType::kL2ToL3Tunnel, kMac + from_hex(kExamples[3].header)), inner_frame());
  CHECK(reason_of(*l2_decap, gre_ip) == DropReason::kNoInnerMac);

  FrameModel no_ip;
  no_ip.is_ip = false;
  no_ip.payload = Bytes(40);
  const auto vxlan = make(ReformatType::kL2ToL2Tunnel, kMac + from_hex(kExamples[0].header));
  CHECK(reason_of(*l3_decap, transform(*vxlan, no_ip.bytes())) == DropReason::kNoInnerIp);
  const auto gre = make(ReformatType::kL2ToL3Tunnel, kMac + from_hex(kExamples[3].header));
  CHECK(reason_of(*gre, no_ip.bytes()) == DropReason::kNotIp);

  CHECK(reason_of(*vxlan, inner_frame(), 49) == DropReason::kNoHeadroom);
  CHECK_FALSE(reason_of(*vxlan, inner_frame(), 50).has_value());
  CHECK(reason_of(*gre, inner_frame(), 27) == DropReason::kNoHeadroom);
  CHECK_FALSE(reason_of(*gre, inner_frame(), 28).has_value());

  const Bytes long_frame = inner_frame() + Bytes(65535 - 136);
  CHECK_FALSE(reason_of(*vxlan, long_frame).has_value());
  CHECK(reason_of(*vxlan, long_frame + Bytes(1)) == DropReason::kTooLong);
}

}  // namespace verbs::mlx5::steering::test
