// RAW_PACKET queue pairs of a vendor's model: whole Ethernet frames, between the ports of devices of this process.
#include <algorithm>

#include "test/abi/support/frame_model.h"

using namespace verbs::soft::test;

TEST_CASE("frames go from one device to another, unchanged") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  const std::uint32_t limit = 4096 + 18;
  for (const std::size_t size : {std::size_t{14}, std::size_t{60}, std::size_t{1514}, std::size_t{limit}}) {
    CAPTURE(size);
    const Bytes frame = frame_of(b.mac(), a.mac(), size);
    REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
    REQUIRE(a.send_frame(frame) == 0);
    const ibv_wc sent = a.poll();
    CHECK(sent.status == IBV_WC_SUCCESS);
    CHECK(sent.opcode == IBV_WC_SEND);
    CHECK(b.receive_frame() == frame);
  }
  CHECK(counter("f0", "raw_sent_frames") == 4);
  CHECK(counter("f1", "raw_rcvd_frames") == 4);
  CHECK(counter("f1", "raw_delivered") == 4);
  CHECK(counter("f0", "link_switch_sent") == 4);
  CHECK(counter("f1", "link_switch_received") == 4);
}

TEST_CASE("the limits of a frame follow the port's MTU, with that of Ethernet at least") {
  configure_frames(",mtu=1024");
  RawEnd a("f0"), b("f1");
  const auto outcome = [&](std::size_t size) {
    REQUIRE(a.send_frame(frame_of(b.mac(), a.mac(), size)) == 0);
    const ibv_wc_status status = a.poll().status;
    if (status == IBV_WC_SUCCESS) return status;
    CHECK(state_of(a.qp) == IBV_QPS_SQE);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
    return status;
  };
  CHECK(outcome(0) == IBV_WC_LOC_LEN_ERR);
  CHECK(outcome(13) == IBV_WC_LOC_LEN_ERR);
  CHECK(outcome(14) == IBV_WC_SUCCESS);
  CHECK(outcome(1518) == IBV_WC_SUCCESS);
  CHECK(outcome(1519) == IBV_WC_LOC_LEN_ERR);
  REQUIRE(verbs_soft_set_mtu("f0", 1, 4096) == 0);
  CHECK(outcome(4114) == IBV_WC_SUCCESS);
  CHECK(outcome(4115) == IBV_WC_LOC_LEN_ERR);
  CHECK(outcome(1 << 19) == IBV_WC_LOC_LEN_ERR);
}

TEST_CASE("a frame to a group reaches every port of the switch, its own too") {
  configure_frames();
  RawEnd a("f0"), b("f1", 1), c("f1", 2);
  const Bytes frame = frame_of(kGroup, a.mac(), 80);
  for (RawEnd* end : {&a, &b, &c}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  for (RawEnd* end : {&a, &b, &c}) CHECK(end->receive_frame() == frame);
  const Bytes broadcast = frame_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, b.mac(), 60);
  for (RawEnd* end : {&a, &b, &c}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(b.send_frame(broadcast, 0) == 0);
  for (RawEnd* end : {&a, &b, &c}) CHECK(end->receive_frame() == broadcast);
}

TEST_CASE("a frame to its own port's address returns only to queue pairs that request it") {
  configure_frames();
  RawEnd a("f0"), wants("f0");
  const Bytes frame = frame_of(a.mac(), a.mac(), 64);
  REQUIRE(soft()->set_self_loopback(wants.qp, 1) == 0);
  for (RawEnd* end : {&a, &wants}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(wants.receive_frame() == frame);
  CHECK(counter("f0", "raw_loopback_blocked") == 1);
  CHECK(counter("f0", "link_switch_sent") == 0);
  REQUIRE(soft()->set_self_loopback(wants.qp, 0) == 0);
  REQUIRE(a.send_frame(frame) == 0);
  CHECK(a.poll().opcode == IBV_WC_SEND);
  ibv_wc none;
  while (counter("f0", "raw_loopback_blocked") < 3) CHECK(ibv_poll_cq(a.cq, 1, &none) == 0);
}

TEST_CASE("the switch learns where an address is") {
  configure_frames();
  RawEnd a("f0"), b("f1", 1), c("f1", 2);
  constexpr Address kOwn{0x24, 0x8a, 0x07, 0xa5, 0x28, 0xc8};
  // Nobody knows the address yet: every other port gets the frame.
  for (RawEnd* end : {&a, &b, &c}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  const Bytes asked = frame_of(kOwn, a.mac(), 64);
  REQUIRE(a.send_frame(asked, 0) == 0);
  CHECK(b.receive_frame() == asked);
  CHECK(c.receive_frame() == asked);
  // It answers, and from then on only its port gets them.
  REQUIRE(b.send_frame(frame_of(a.mac(), kOwn, 64), 0) == 0);
  CHECK(a.receive_frame().size() == 64);
  for (RawEnd* end : {&b, &c}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(a.send_frame(asked, 0) == 0);
  CHECK(b.receive_frame() == asked);
  CHECK(counter("f0", "link_switch_sent") == 3);
  // A frame whose destination is behind its own port is dropped.
  REQUIRE(b.send_frame(frame_of(kOwn, kOwn, 64), 0) == 0);
  CHECK(counter("f1", "link_switch_filtered") == 1);
  // The address moves.
  REQUIRE(c.send_frame(frame_of(a.mac(), kOwn, 64), 0) == 0);
  REQUIRE(a.send_frame(asked, 0) == 0);
  CHECK(c.receive_frame() == asked);
}

TEST_CASE("ports of one switch do not see those of another") {
  register_frame_model();
  configure("s0,kind=frames,switch=left;s1,kind=frames,switch=right;s2,kind=frames,switch=left");
  RawEnd a("s0"), b("s1"), c("s2");
  for (RawEnd* end : {&b, &c}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  const Bytes frame = frame_of(kGroup, a.mac(), 64);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(c.receive_frame() == frame);
  CHECK(counter("s0", "link_switch_sent") == 2);  // its own port, and c's
  CHECK(counter("s1", "raw_rcvd_frames") == 0);
}

TEST_CASE("a model changes frames in place, sends them by another port, and copies them") {
  configure_frames();
  RawEnd a("f1", 1), b("f0"), again("f0");
  frame_model().pushed = 1000;
  frame_model().send_port = 2;
  const Bytes frame = frame_of(b.mac(), a.mac(), 500);
  for (RawEnd* end : {&b, &again}) REQUIRE(end->post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  Bytes expected(1000, 0xff);
  expected.insert(expected.end(), frame.begin(), frame.end());
  CHECK(b.receive_frame() == expected);
  CHECK(again.receive_frame() == expected);
  frame_model().pushed = 0;
  frame_model().send_port = 3;
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(frame_model().transmitted == EINVAL);
  frame_model().send_port = 0;
}
