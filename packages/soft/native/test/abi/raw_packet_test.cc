// RAW_PACKET queue pairs of a vendor's model: whole Ethernet frames, between the ports of devices of this process.
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "frame_model.h"

using namespace verbs::soft::test;

namespace {

void configure_frames(const std::string& options = "") {
  register_frame_model();
  configure("f0,kind=frames" + options + ";f1,kind=frames,ports=2" + options + ";plain0");
}

constexpr std::uint32_t kRoom = 8192;

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;
  REQUIRE(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0);
  return attr.qp_state;
}

}  // namespace

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

TEST_CASE("gather, inline data, requests without a completion") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 100);
  std::ranges::copy(frame, a.memory.begin());
  ibv_sge pieces[2] = {{reinterpret_cast<std::uintptr_t>(a.memory.data()), 20, a.mr->lkey},
                       {reinterpret_cast<std::uintptr_t>(a.memory.data() + 20), 80, a.mr->lkey}};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = pieces;
  wr.num_sge = 2;
  wr.opcode = IBV_WR_SEND;
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
  CHECK(b.receive_frame() == frame);
  ibv_wc none;
  CHECK(ibv_poll_cq(a.cq, 1, &none) == 0);

  // A region of another domain is found out when the frame is gathered.
  wr.send_flags = IBV_SEND_SIGNALED;
  pieces[1].lkey = 0xffffff00;
  REQUIRE(ibv_post_send(a.qp, &wr, &bad) == 0);
  CHECK(a.poll().status == IBV_WC_LOC_PROT_ERR);

  for (const ibv_wr_opcode opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_TSO}) {
    ibv_sge sge;
    ibv_send_wr wrong = b.request(&sge, opcode, 0, 64);
    CHECK(ibv_post_send(b.qp, &wrong, &bad) == EINVAL);
  }
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

TEST_CASE("a frame to its own port's address comes back only to who wants that") {
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
  // A frame to where it comes from goes nowhere.
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

TEST_CASE("too short a buffer ends the queue pair, none loses the frame") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 64);
  ibv_wc none;
  REQUIRE(a.send_frame(frame, 0) == 0);
  while (counter("f1", "out_of_buffer") < 1) CHECK(ibv_poll_cq(b.cq, 1, &none) == 0);
  REQUIRE(b.post_recv(kReceiveAt, 63, 7) == 0);
  REQUIRE(b.post_recv(kReceiveAt, kRoom, 8) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  const ibv_wc failed = b.poll(), flushed = b.poll();
  CHECK(failed.status == IBV_WC_LOC_LEN_ERR);
  CHECK(failed.wr_id == 7);
  CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
  CHECK(flushed.wr_id == 8);
  CHECK(state_of(b.qp) == IBV_QPS_ERR);
  REQUIRE(a.send_frame(frame, 0) == 0);
  while (counter("f1", "raw_not_receiving") < 1) CHECK(ibv_poll_cq(b.cq, 1, &none) == 0);
}

TEST_CASE("a shared receive queue feeds raw packets, too") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  ibv_srq_init_attr srq_attr{};
  srq_attr.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ibv_srq* srq = ibv_create_srq(b.pd, &srq_attr);
  REQUIRE(srq);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = b.cq;
  attr.srq = srq;
  attr.qp_type = IBV_QPT_RAW_PACKET;
  attr.cap = {.max_send_wr = 1, .max_recv_wr = 0, .max_send_sge = 1, .max_recv_sge = 0, .max_inline_data = 0};
  b.replace_qp(ibv_create_qp(b.pd, &attr));
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(b.memory.data() + kReceiveAt), kRoom, b.mr->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0);
  const Bytes frame = frame_of(b.mac(), a.mac(), 200);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(b.receive_frame() == frame);
  b.replace_qp(nullptr);
  CHECK(ibv_destroy_srq(srq) == 0);
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

TEST_CASE("the flow tag, the VLAN tag and the flags of a model reach the completion") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 8;
  attr.wc_flags = std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_CVLAN;
  CHECK(ibv_create_cq_ex(open_device("plain0").get(), &attr) == nullptr);
  CHECK(errno == EOPNOTSUPP);
  ibv_cq_ex* cq = ibv_create_cq_ex(b.context.get(), &attr);
  REQUIRE(cq);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
  init.qp_type = IBV_QPT_RAW_PACKET;
  init.cap = {.max_send_wr = 1, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  const verbs_soft_delivery told{.flow_tag = 0xff123456, .wc_flags = IBV_WC_IP_CSUM_OK, .cvlan = 0xbc0c};
  b.replace_qp(ibv_create_qp(b.pd, &init), told);
  REQUIRE(b.post_recv(kReceiveAt, kRoom, 99) == 0);
  REQUIRE(a.send_frame(frame_of(b.mac(), a.mac(), 64), 0) == 0);
  ibv_poll_cq_attr none{};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  int error = ENOENT;
  while (error == ENOENT && std::chrono::steady_clock::now() < give_up) error = ibv_start_poll(cq, &none);
  REQUIRE(error == 0);
  CHECK(cq->wr_id == 99);
  CHECK(ibv_wc_read_byte_len(cq) == 64);
  CHECK(ibv_wc_read_wc_flags(cq) == IBV_WC_IP_CSUM_OK);
  CHECK(ibv_wc_read_flow_tag(cq) == 0x123456);
  CHECK(ibv_wc_read_cvlan(cq) == 0xbc0c);
  ibv_end_poll(cq);
  b.replace_qp(nullptr);
  CHECK(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
}

TEST_CASE("a port that is down takes and sends nothing; faults hit frames, too") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 64);
  ibv_wc none;
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(verbs_soft_set_link("f0", 1, 0) == 0);
  REQUIRE(a.send_frame(frame) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(counter("f0", "link_dropped") == 1);
  REQUIRE(verbs_soft_set_link("f0", 1, 1) == 0);
  REQUIRE(verbs_soft_set_link("f1", 1, 0) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  while (counter("f1", "link_dropped") < 1) CHECK(ibv_poll_cq(b.cq, 1, &none) == 0);
  REQUIRE(verbs_soft_set_link("f1", 1, 1) == 0);
  REQUIRE(verbs_soft_set_faults("f0", "drop=1") == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(counter("f0", "fault_dropped") == 1);
  REQUIRE(verbs_soft_set_faults("f0", "duplicate=1,delay=100") == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  CHECK(b.receive_frame() == frame);
  CHECK(b.receive_frame() == frame);
}

TEST_CASE("who sleeps until a frame comes is woken") {
  configure_frames();
  RawEnd a("f0"), b("f1", 1, true);
  const Bytes frame = frame_of(b.mac(), a.mac(), 64);
  for (int round = 0; round < 20; ++round) {
    REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
    REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
    REQUIRE(a.send_frame(frame, 0) == 0);
    ibv_cq* cq = nullptr;
    void* its = nullptr;
    REQUIRE(ibv_get_cq_event(b.channel, &cq, &its) == 0);
    ibv_ack_cq_events(cq, 1);
    CHECK(b.receive_frame() == frame);
  }
}

TEST_CASE("what a device without raw packets says, and what states and attributes there are") {
  configure_frames();
  const Context plain = open_device("plain0");
  ibv_pd* pd = ibv_alloc_pd(plain.get());
  ibv_cq* cq = ibv_create_cq(plain.get(), 1, nullptr, nullptr, 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RAW_PACKET;
  CHECK(ibv_create_qp(pd, &init) == nullptr);
  CHECK(errno == EOPNOTSUPP);
  ibv_device_attr_ex device{};
  REQUIRE(ibv_query_device_ex(plain.get(), nullptr, &device) == 0);
  CHECK(device.raw_packet_caps == 0);

  RawEnd a("f0");
  REQUIRE(ibv_query_device_ex(a.context.get(), nullptr, &device) == 0);
  CHECK(device.raw_packet_caps == IBV_RAW_PACKET_CAP_IP_CSUM);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == EINVAL);
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX) == EINVAL);
  attr.port_num = 2;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == EINVAL);
  attr.port_num = 1;
  REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0);
  attr.qp_state = IBV_QPS_RTR;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_AV) == EINVAL);
  REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.rate_limit = 100;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT) == EINVAL);
  attr.rate_limit = 0;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT) == 0);
  attr.qp_state = IBV_QPS_SQD;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
  attr.qp_state = IBV_QPS_RTS;
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
  CHECK(ibv_attach_mcast(a.qp, &a.gid, 0) == EINVAL);
}

TEST_CASE("the extended posting calls send frames; segmentation is not there") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  ibv_qp_init_attr_ex attr{};
  attr.send_cq = attr.recv_cq = a.cq;
  attr.pd = a.pd;
  attr.qp_type = IBV_QPT_RAW_PACKET;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 128};
  attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO;
  CHECK(ibv_create_qp_ex(a.context.get(), &attr) == nullptr);
  CHECK(errno == EOPNOTSUPP);
  attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
  a.replace_qp(ibv_create_qp_ex(a.context.get(), &attr));
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(a.qp);
  REQUIRE(ex);
  Bytes first = frame_of(b.mac(), a.mac(), 100);
  const Bytes second = frame_of(b.mac(), a.mac(), 1000);
  std::ranges::copy(second, a.memory.begin());
  for (int i = 0; i < 2; ++i) REQUIRE(b.post_recv(kReceiveAt + kRoom * static_cast<std::size_t>(i), kRoom) == 0);
  ibv_wr_start(ex);
  ex->wr_flags = 0;
  ibv_wr_send(ex);
  ibv_wr_set_inline_data(ex, first.data(), first.size());
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(ex);
  const auto at = reinterpret_cast<std::uintptr_t>(a.memory.data());
  const ibv_sge pieces[2] = {{at, 500, a.mr->lkey}, {at + 500, 500, a.mr->lkey}};
  ibv_wr_set_sge_list(ex, 2, pieces);
  REQUIRE(ibv_wr_complete(ex) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(b.receive_frame() == first);
  CHECK(b.poll().byte_len == 1000);
  CHECK(std::equal(second.begin(), second.end(), b.memory.begin() + kReceiveAt + kRoom));
  a.replace_qp(nullptr);
}

TEST_CASE("a capture has the frames as they pass the port, and RoCE packets beside them") {
  configure_frames(",link=process");
  const std::string path = "/tmp/verbs-frames-" + std::to_string(getpid()) + ".pcapng";
  REQUIRE(verbs_soft_capture_start("f0", path.c_str(), 0, 0) == 0);
  RawEnd a("f0"), b("f1");
  const Bytes frame = frame_of(b.mac(), a.mac(), 90);
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(b.receive_frame() == frame);
  REQUIRE(verbs_soft_capture_stop("f0") == 0);
  REQUIRE(a.send_frame(frame_of(b.mac(), a.mac(), 91), 0) == 0);
  std::ifstream file(path, std::ios::binary);
  const Bytes captured{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  unlink(path.c_str());
  CHECK(std::ranges::search(captured, frame).size() == frame.size());
  const std::string name = "f0/1 Ethernet";
  CHECK(std::search(captured.begin(), captured.end(), name.begin(), name.end()) != captured.end());
  CHECK(std::ranges::search(captured, frame_of(b.mac(), a.mac(), 91)).empty());
}

TEST_CASE("a queue pair goes while frames for it are on their way") {
  configure_frames();
  RawEnd a("f0");
  for (int round = 0; round < 20; ++round) {
    RawEnd b("f1");
    REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
    for (int i = 0; i < 8; ++i) REQUIRE(a.send_frame(frame_of(b.mac(), a.mac(), 64), 0) == 0);
  }
}

TEST_CASE("only a model that is at work sends and delivers") {
  configure_frames();
  RawEnd a("f0");
  Bytes bytes(64);
  const verbs_soft_frame frame{.data = bytes.data(), .size = 64, .headroom = 0, .tailroom = 0};
  const verbs_soft_delivery none{};
  const ibv_device* device = a.context->device;
  std::uint8_t mac[6];
  CHECK(soft()->transmit_frame(a.context->device, 1, &frame) == EPERM);
  CHECK(soft()->deliver_frame(a.qp, &frame, &none) == EPERM);
  REQUIRE(soft()->lock_device(a.context.get()) == 0);
  CHECK(soft()->frame_limit(a.context->device, 1) == 4114);
  CHECK(soft()->frame_limit(a.context->device, 2) == 0);
  soft()->unlock_device(a.context.get());
  CHECK(soft()->port_mac(device, 0, mac) == EINVAL);
  CHECK(soft()->port_mac(device, 2, mac) == EINVAL);
  const Context two = open_device("f1");
  CHECK((mac_of(two.get(), 1)[0] & 3) == 2);
  CHECK(mac_of(two.get(), 1) != mac_of(two.get(), 2));
  CHECK(mac_of(two.get(), 1) != a.mac());
  // The model's own counter is among the others.
  CHECK(counter("f1", "frames_seen") == 0);
  REQUIRE(a.send_frame(frame_of(kGroup, a.mac(), 64)) == 0);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  ibv_cq* cq = ibv_create_cq(two.get(), 1, nullptr, nullptr, 0);
  ibv_wc wc;
  while (counter("f1", "frames_seen") < 2) CHECK(ibv_poll_cq(cq, 1, &wc) == 0);
}

TEST_CASE("switch and tap are for devices with raw packets, a tap for one port") {
  register_frame_model();
  configure("p,switch=x;q,kind=frames");
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  CHECK(list[0] != nullptr);
  CHECK(list[1] == nullptr);
  ibv_free_device_list(list);
  CHECK(std::string(verbs_soft_last_error()).find("switch= and tap= are for devices with raw packets") !=
        std::string::npos);
  for (const char* wrong : {"q,kind=frames,ports=2,tap=tap0", "q,kind=frames,tap=", "q,kind=frames,tap=a/b",
                            "q,kind=frames,tap=sixteencharacter", "q,kind=frames,switch="}) {
    CAPTURE(wrong);
    CHECK(verbs_soft_configure(wrong) == EINVAL);
    CHECK(std::string(verbs_soft_last_error()).find("device q: ") != std::string::npos);
  }
}

TEST_CASE("a forked child has neither its parent's ports nor its switch") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
  const Address parents = a.mac();
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    if (soft()->lock_device(a.context.get()) != EIO) _exit(1);
    if (a.send_frame(frame_of(kGroup, parents, 64)) != EIO) _exit(2);
#ifndef __SANITIZE_THREAD__  // which ends a forked child that starts a thread
    RawEnd mine("f0");
    if (mine.mac() == parents) _exit(3);
    if (mine.post_recv(kReceiveAt, kRoom) != 0) _exit(4);
    if (mine.send_frame(frame_of(kGroup, mine.mac(), 64), 0) != 0) _exit(5);
    if (mine.receive_frame().size() != 64) _exit(6);
    if (counter("f0", "link_switch_sent") != 1) _exit(7);
#endif
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const Bytes frame = frame_of(b.mac(), a.mac(), 77);
  REQUIRE(a.send_frame(frame, 0) == 0);
  CHECK(b.receive_frame() == frame);
}

TEST_CASE("threads that send each other frames, and change what the steering reads") {
  configure_frames();
  RawEnd a("f0"), b("f1", 1), c("f1", 2);
  constexpr int kFrames = 500;
  const auto talk = [](RawEnd& from, const RawEnd& to) {
    for (int i = 0; i < kFrames; ++i) {
      ibv_wc wc[16];
      while (ibv_poll_cq(from.cq, 16, wc) > 0) {
      }
      static_cast<void>(from.post_recv(kReceiveAt, kRoom));
      CHECK(from.send_frame(frame_of(i % 5 == 0 ? kGroup : to.mac(), from.mac(), 64), IBV_SEND_SIGNALED) == 0);
      if (i % 50 != 0) continue;
      remove_receiver(from.qp);
      add_receiver({from.context->device, from.port, from.qp, {}});
    }
  };
  std::thread first([&] { talk(a, b); }), second([&] { talk(b, c); }), third([&] { talk(c, a); });
  first.join();
  second.join();
  third.join();
  CHECK(counter("f0", "raw_sent_frames") == kFrames);
  CHECK(counter("f1", "raw_sent_frames") == 2 * kFrames);
}
