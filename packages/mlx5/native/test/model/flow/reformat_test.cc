// Packet reformat actions: every check in its order, and the effect on frames.
#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

constexpr auto kL2Decap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
constexpr auto kL2Encap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
constexpr auto kL3Decap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
constexpr auto kL3Encap = MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL;
constexpr auto kReceive = MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
constexpr auto kTransmit = MLX5DV_FLOW_TABLE_TYPE_NIC_TX;

int failure(ibv_context* context, unsigned type, unsigned table, std::size_t size, bool with_data = true) {
  Bytes data(70'000);
  errno = 0;
  ibv_flow_action* action = mlx5dv_create_flow_action_packet_reformat(
      context, size, with_data ? data.data() : nullptr, static_cast<mlx5dv_flow_action_packet_reformat_type>(type),
      static_cast<mlx5dv_flow_table_type>(table));
  const int error = action ? 0 : errno;
  if (action) CHECK(ibv_destroy_flow_action(action) == 0);
  return error;
}

ibv_flow_action* make(ibv_context* context, mlx5dv_flow_action_packet_reformat_type type, const Bytes& data) {
  const bool decap = type == kL2Decap || type == kL3Decap;
  Bytes copy = data;
  ibv_flow_action* action = mlx5dv_create_flow_action_packet_reformat(
      context, copy.size(), copy.empty() ? nullptr : copy.data(), type, decap ? kReceive : kTransmit);
  REQUIRE(action != nullptr);
  return action;
}

constexpr const char* kMac = "0150561920a7248a07a528c80800";

// The outer headers as a program gives them, with lengths, checksums and entropy 0, and as they are sent.
struct Tunnel {
  const char* name;
  mlx5dv_flow_action_packet_reformat_type type;
  const char* given;
  const char* sent;
};

constexpr Tunnel kTunnels[] = {
    {"VXLAN", kL2Encap, "4500000000004000401100000101010102020202 000012b500000000 0800000076adf100",
     "4500008800004000401134600101010102020202 d69f12b500740000 0800000076adf100"},
    {"GENEVE", kL2Encap, "4500000000004000401100000101010102020202 000017c100000000 0000655800000200",
     "4500008800004000401134600101010102020202 d69f17c100740000 0000655800000200"},
    {"GRE with an Ethernet payload", kL2Encap, "4500000000004000402f00000101010102020202 2000655812345678",
     "4500008000004000402f344a0101010102020202 2000655812345678"},
    {"GRE with an IP payload", kL3Encap, "4500000000004000402f00000101010102020202 2000080012345678",
     "4500007200004000402f34580101010102020202 2000080012345678"},
    {"MPLS over UDP", kL3Encap, "4500000000004000401100000101010102020202 000019eb00000000 00010140",
     "4500007600004000401134720101010102020202 d69f19eb00620000 00010140"},
};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("only two directions have reformat actions, each with two of the types") {
  End end;
  for (unsigned type = 0; type < 6; ++type) {
    for (unsigned table = 0; table < 8; ++table) {
      const bool decap = type == kL2Decap || type == kL3Decap;
      const bool known = type < 4 && table == static_cast<unsigned>(decap ? kReceive : kTransmit);
      CAPTURE(type);
      CAPTURE(table);
      CHECK(failure(end.context, type, table, type == kL3Decap ? 14 : 50) == (known ? 0 : EOPNOTSUPP));
    }
  }
}

TEST_CASE("the checks of a reformat action come in the order of library, kernel, firmware") {
  End end;
  // Data and size are both given or neither; this is checked first.
  CHECK(failure(end.context, 9, 9, 50, false) == EINVAL);
  CHECK(failure(end.context, 9, 9, 0, true) == EINVAL);
  CHECK(failure(end.context, 9, 9, 65'536) == EINVAL);
  CHECK(failure(end.context, 9, 9, 65'535) == EOPNOTSUPP);
  // Then the pair of type and table, then the data.
  CHECK(failure(end.context, kL2Encap, kReceive, 0, false) == EOPNOTSUPP);
  CHECK(failure(end.context, kL2Encap, kTransmit, 0, false) == ENOENT);
  CHECK(failure(end.context, kL3Encap, kTransmit, 0, false) == ENOENT);
  CHECK(failure(end.context, kL3Decap, kReceive, 0, false) == ENOENT);
  CHECK(failure(end.context, kL2Decap, kReceive, 0, false) == 0);
  CHECK(failure(end.context, kL2Decap, kReceive, 20) == 0);  // ignored
  CHECK(failure(end.context, kL2Encap, kTransmit, 128) == 0);
  CHECK(failure(end.context, kL2Encap, kTransmit, 130) == EINVAL);
  CHECK(failure(end.context, kL2Encap, kTransmit, 51) == EINVAL);
  CHECK(failure(end.context, kL3Decap, kReceive, 14) == 0);
  CHECK(failure(end.context, kL3Decap, kReceive, 16) == EINVAL);
  CHECK(failure(end.context, kL3Decap, kReceive, 18) == 0);
  CHECK(failure(nullptr, kL2Decap, kReceive, 0, false) == EINVAL);
}

TEST_CASE("actions need the device's capabilities, and no privileges") {
  for (const auto& [device, type] :
       {std::pair("mlx5_no0", kL2Decap), {"mlx5_no1", kL2Encap}, {"mlx5_no2", kL3Decap}, {"mlx5_no3", kL3Encap}}) {
    End end(device);
    for (const auto each : {kL2Decap, kL2Encap, kL3Decap, kL3Encap}) {
      const bool decap = each == kL2Decap || each == kL3Decap;
      CHECK(failure(end.context, each, decap ? kReceive : kTransmit, 14) == (each == type ? EOPNOTSUPP : 0));
    }
  }
}

TEST_CASE("a device's number of reformat contexts is limited") {
  End end("mlx5_few");  // log_max_packet_reformat_context=1
  ibv_flow_action* first = make(end.context, kL2Encap, Bytes(50));
  ibv_flow_action* second = make(end.context, kL3Decap, Bytes(14));
  CHECK(failure(end.context, kL2Encap, kTransmit, 50) == ENOMEM);
  CHECK(failure(end.context, kL2Decap, kReceive, 0, false) == 0);  // needs no context
  CHECK(ibv_destroy_flow_action(first) == 0);
  CHECK(failure(end.context, kL2Encap, kTransmit, 50) == 0);
  CHECK(ibv_destroy_flow_action(second) == 0);
}

TEST_CASE("each tunnel: the bytes on the wire, and the same frame after decapsulation") {
  for (const Tunnel& tunnel : kTunnels) {
    CAPTURE(tunnel.name);
    End sender, receiver;
    Parameters none, smac({{0, kSmac}}), smac_mask({{0, kAllOnes}});
    ibv_flow_action* encap = make(sender.context, tunnel.type, hex(kMac) + hex(tunnel.given));
    const FlowMatcher out = make_matcher(sender.context, none, true, 0, 0);
    ibv_flow* egress = make_flow(out.get(), none, {by_action(encap)});
    REQUIRE(egress != nullptr);

    // Without a decapsulation the receiver sees the outer headers.
    const FlowMatcher in = make_matcher(receiver.context, smac_mask);
    ibv_flow* ingress = make_flow(in.get(), smac, {to_qp(receiver.qp)});
    REQUIRE(ingress != nullptr);
    receiver.post_receive();
    sender.send(example_frame());
    const Bytes frame = example_frame();
    const Bytes payload = tunnel.type == kL3Encap ? Bytes(frame.begin() + 14, frame.end()) : frame;
    CHECK(receiver.receive() == hex(kMac) + hex(tunnel.sent) + payload);
    CHECK(ibv_destroy_flow(ingress) == 0);

    // With one it receives the frame that was sent.
    ibv_flow_action* decap =
        tunnel.type == kL3Encap ? make(receiver.context, kL3Decap, hex(kMac)) : make(receiver.context, kL2Decap, {});
    ingress = make_flow(in.get(), smac, {by_action(decap), to_qp(receiver.qp)});
    REQUIRE(ingress != nullptr);
    receiver.post_receive();
    sender.send(example_frame());
    CHECK(receiver.receive() == example_frame());

    // In use, and then not.
    CHECK(ibv_destroy_flow_action(decap) == EBUSY);
    CHECK(ibv_destroy_flow_action(encap) == EBUSY);
    CHECK(ibv_destroy_flow(ingress) == 0);
    CHECK(ibv_destroy_flow(egress) == 0);
    CHECK(ibv_destroy_flow_action(decap) == 0);
    CHECK(ibv_destroy_flow_action(encap) == 0);
  }
}

TEST_CASE("an L3 decapsulation adds the MAC header of its data, which may have a VLAN tag") {
  End sender, receiver;
  const Tunnel& gre = kTunnels[3];
  Parameters none;
  ibv_flow_action* encap = make(sender.context, kL3Encap, hex(kMac) + hex(gre.given));
  ibv_flow_action* decap = make(receiver.context, kL3Decap, hex("010203040506 0708090a0b0c 8100a123 0800"));
  const FlowMatcher out = make_matcher(sender.context, none, true, 0, 0);
  const FlowMatcher in = make_matcher(receiver.context, none, false, 0, 0);
  REQUIRE(make_flow(out.get(), none, {by_action(encap)}));
  REQUIRE(make_flow(in.get(), none, {to_qp(receiver.qp), by_action(decap)}));  // in either order
  receiver.post_receive();
  sender.send(example_frame());
  const Bytes frame = example_frame();
  CHECK(receiver.receive() == hex("010203040506 0708090a0b0c 8100a123 0800") + Bytes(frame.begin() + 14, frame.end()));
}

TEST_CASE("an unknown or stale action is rejected and not accessed") {
  End end;
  ibv_flow_action* action = make(end.context, kL2Decap, {});
  ibv_flow_action copy = *action;
  CHECK(ibv_destroy_flow_action(&copy) == EINVAL);
  Parameters none;
  const FlowMatcher matcher = make_matcher(end.context, none, false, 0, 0);
  CHECK(ERRNO_OF(make_flow(matcher.get(), none, {by_action(&copy), to_qp(end.qp)})) == EINVAL);
  CHECK(ERRNO_OF(make_flow(matcher.get(), none, {by_action(nullptr), to_qp(end.qp)})) == EINVAL);
  End other;
  CHECK(ERRNO_OF(make_flow(matcher.get(), none, {by_action(make(other.context, kL2Decap, {})), to_qp(end.qp)})) ==
        EINVAL);
  CHECK(ibv_destroy_flow_action(action) == 0);
}
