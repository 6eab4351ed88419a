// Checksums of raw packets: filled in for a sender that requests it, checked for the receiver.
#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

TEST_CASE("a completion reports whether the checksums of an IPv4 packet are correct") {
  End sender, receiver;
  Parameters nothing;
  const FlowMatcher matcher = make_matcher(receiver.context, nothing, false, 0, 0);
  REQUIRE(make_flow(matcher.get(), nothing, {to_qp(receiver.qp)}) != nullptr);
  ibv_device_attr_ex attr{};
  REQUIRE(ibv_query_device_ex(receiver.context, nullptr, &attr) == 0);
  CHECK(attr.raw_packet_caps == IBV_RAW_PACKET_CAP_IP_CSUM);

  const auto verdict = [&](const Bytes& frame, unsigned flags) {
    receiver.post_receive();
    sender.send(frame, flags);
    const Bytes received = receiver.receive();
    REQUIRE(received.size() == frame.size());
    return receiver.wc_flags & IBV_WC_IP_CSUM_OK;
  };
  const Bytes without = example_frame();  // all of its checksums are 0, which is valid for UDP only
  CHECK(verdict(without, 0) == 0);
  CHECK(verdict(without, IBV_SEND_IP_CSUM) == IBV_WC_IP_CSUM_OK);
  Bytes right = without;
  right[24] = 0x34, right[25] = 0x92;  // of the IPv4 header
  CHECK(verdict(right, 0) == IBV_WC_IP_CSUM_OK);
  Bytes wrong = right;
  wrong[40] = 0x12;  // a UDP checksum of another packet
  CHECK(verdict(wrong, 0) == 0);
}
