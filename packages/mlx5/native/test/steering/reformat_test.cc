// The bytes that each reformat type makes, for every tunnel, and the way back.
#include "steering/reformat.h"

#include <doctest/doctest.h>

#include "buffer.h"

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

Bytes apply(const Reformat& reformat, const Bytes& frame) {
  const FrameBuffer buffer(frame);
  Packet packet(buffer.frame());
  CHECK_FALSE(reformat.apply(packet).has_value());
  return bytes_of(packet.frame());
}

struct Example {
  const char* name;
  ReformatType type;
  const char* header;    // behind the MAC header, as given
  const char* expected;  // the same as it comes out
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

TEST_CASE("encapsulation makes the bytes of the worked examples, and decapsulation takes them off again") {
  const Bytes inner = inner_frame();
  REQUIRE(inner.size() == 100);
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    const Bytes outer = kMac + from_hex(example.header);
    const Bytes frame = apply(*make(example.type, outer), inner);
    CHECK(frame.size() == example.size);
    const bool is_l2 = example.type == ReformatType::kL2ToL2Tunnel;
    const Bytes payload(inner.begin() + (is_l2 ? 0 : 14), inner.end());
    CHECK(to_hex(frame) == to_hex(kMac + from_hex(example.expected) + payload));

    const auto decap = is_l2 ? make(ReformatType::kL2TunnelToL2, {}) : make(ReformatType::kL3TunnelToL2, kMac);
    CHECK(to_hex(apply(*decap, frame)) == to_hex(inner));
  }
}

}  // namespace verbs::mlx5::steering::test
