// RAW_PACKET queue pairs: posted requests and their completions.
#include <algorithm>

#include "test/abi/support/frame_model.h"

using namespace verbs::soft::test;

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

  // What the type does not have is found out then, too; what no type has, at once.
  ibv_sge sge;
  ibv_send_wr wrong = b.request(&sge, IBV_WR_TSO, 0, 64);
  CHECK(ibv_post_send(b.qp, &wrong, &bad) == EINVAL);
  for (const ibv_wr_opcode opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    RawEnd c("f1");
    wrong = c.request(&sge, opcode, 0, 64);
    REQUIRE(ibv_post_send(c.qp, &wrong, &bad) == 0);
    CHECK(c.poll().status == IBV_WC_LOC_QP_OP_ERR);
    CHECK(state_of(c.qp) == IBV_QPS_SQE);
  }
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

TEST_CASE("the flow tag, the VLAN tag and the flags of a model reach the completion") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 8;
  attr.wc_flags = std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_CVLAN;
  {
    const auto plain = open_device("plain0");
    CHECK(ibv_create_cq_ex(plain.get(), &attr) == nullptr);
    CHECK(errno == EOPNOTSUPP);
  }
  ibv_cq_ex* cq = ibv_create_cq_ex(b.context.get(), &attr);
  REQUIRE(cq);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
  init.qp_type = IBV_QPT_RAW_PACKET;
  init.cap = {.max_send_wr = 1, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  const verbs_soft_delivery delivery{.flow_tag = 0xff123456, .wc_flags = IBV_WC_IP_CSUM_OK, .cvlan = 0xbc0c};
  b.replace_qp(ibv_create_qp(b.pd, &init), delivery);
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

TEST_CASE("a frame wakes a thread that sleeps for it") {
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

TEST_CASE("errors of a device without raw packets, and the states and attributes of raw queue pairs") {
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
  CHECK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT) == EOPNOTSUPP);
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

TEST_CASE("the NIC fills in checksums on request") {
  configure_frames();
  RawEnd a("f0"), b("f1");
  Bytes frame = frame_of(b.mac(), a.mac(), 46);
  const Bytes packet{0x08, 0, 0x45, 0, 0, 32,   0,    0,    0x40, 0, 64, 17, 0, 0, 1, 1, 1,
                     1,    2, 2,    2, 2, 0x04, 0xd2, 0x16, 0x2e, 0, 12, 0,  0, 1, 2, 3, 4};
  std::ranges::copy(packet, frame.begin() + 12);
  for (const unsigned flags : {0u, unsigned{IBV_SEND_IP_CSUM}}) {
    REQUIRE(b.post_recv(kReceiveAt, kRoom) == 0);
    REQUIRE(a.send_frame(frame, flags) == 0);
    if (flags != 0) {
      frame[24] = 0x34, frame[25] = 0xc8;
      frame[40] = 0xda, frame[41] = 0xca;
    }
    CHECK(b.receive_frame() == frame);
  }
}
