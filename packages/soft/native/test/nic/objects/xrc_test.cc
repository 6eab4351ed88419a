// XRC: initiators, targets, and the shared receive queue that each request names.
#include "test/nic/objects/xrc_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("each message goes to the shared queue that it names, and completes on that queue's CQ") {
  Xrc xrc(2);
  nic::Cq* other_cq = nullptr;
  REQUIRE(xrc.net.b.nic->cqs().create(16, &xrc.net.b, &other_cq) == 0);
  nic::Srq* one = xrc.create_srq();
  nic::Srq* two = xrc.create_srq(other_cq);
  xrc.post(one, 1, 0, 4096);
  xrc.post(two, 2, 4096, 4096);
  xrc.post(two, 3, 8192, 4096);
  CHECK(xrc.send(two->number, 3000, 0) == IBV_WC_SUCCESS);
  CHECK(xrc.send(one->number, 100, 0) == IBV_WC_SUCCESS);
  CHECK(xrc.send(two->number, 200, 1) == IBV_WC_SUCCESS);

  const auto first = xrc.net.b.poll();
  REQUIRE(first.size() == 1);
  CHECK(first[0].wr_id == 1);
  CHECK(first[0].byte_len == 100);
  CHECK(first[0].qp_num == xrc.targets[0]->number);
  ibv_wc wc[3];
  REQUIRE(other_cq->poll(3, wc) == 2);
  CHECK(wc[0].wr_id == 2);
  CHECK(wc[0].byte_len == 3000);
  CHECK(wc[0].src_qp == xrc.initiators[0]->number);
  CHECK(wc[1].wr_id == 3);
  CHECK(wc[1].qp_num == xrc.targets[1]->number);
  CHECK(std::equal(xrc.near.begin(), xrc.near.begin() + 3000, xrc.far.begin() + 4096));
}

TEST_CASE("every operation of RC works over XRC, with packets lost too") {
  for (const double loss : {0.0, 0.1}) {
    Xrc xrc;
    link::FaultPlan plan;
    plan.drop = loss;
    plan.seed = 5;
    xrc.net.a.faults.set_plan(plan);
    plan.seed = 6;
    xrc.net.b.faults.set_plan(plan);
    nic::Srq* srq = xrc.create_srq();
    const std::uint32_t srqn = srq->number;
    xrc.post(srq, 1, 40000, 20000);
    CHECK(xrc.send(srqn, 20000) == IBV_WC_SUCCESS);
    CHECK(std::equal(xrc.near.begin(), xrc.near.begin() + 20000, xrc.far.begin() + 40000));
    CHECK(xrc.rdma(IBV_WR_RDMA_WRITE, srqn, 30000) == IBV_WC_SUCCESS);
    CHECK(std::equal(xrc.near.begin(), xrc.near.begin() + 30000, xrc.far.begin()));
    xrc.post(srq, 2, 0, 16);
    CHECK(xrc.rdma(IBV_WR_RDMA_WRITE_WITH_IMM, srqn, 5000, 32768) == IBV_WC_SUCCESS);
    const auto received = xrc.net.b.poll();
    REQUIRE(received.size() == 2);
    CHECK(received[1].opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK(received[1].imm_data == 0x1234);
    std::fill(xrc.near.begin(), xrc.near.end(), std::uint8_t{0});
    CHECK(xrc.rdma(IBV_WR_RDMA_READ, srqn, 30000) == IBV_WC_SUCCESS);
    CHECK(std::equal(xrc.near.begin(), xrc.near.begin() + 30000, xrc.far.begin()));

    const std::uint64_t start = 40;
    std::memcpy(xrc.far.data(), &start, sizeof start);
    ibv_sge sge;
    ibv_send_wr wr = xrc.request(&sge, IBV_WR_ATOMIC_FETCH_AND_ADD, srqn, 8);
    wr.wr.atomic = {reinterpret_cast<std::uintptr_t>(xrc.far.data()), 2, 0, xrc.remote->rkey()};
    xrc.start(wr);
    CHECK(xrc.finish().status == IBV_WC_SUCCESS);
    std::uint64_t before = 0, after = 0;
    std::memcpy(&before, xrc.near.data(), sizeof before);
    std::memcpy(&after, xrc.far.data(), sizeof after);
    CHECK(before == 40);
    CHECK(after == 42);
  }
}

TEST_CASE("a queue that does not exist, is no XRC queue or is of another domain gets a NAK") {
  for (int which = 0; which < 3; ++which) {
    CAPTURE(which);
    Xrc xrc;
    std::uint32_t srqn = 0xffffff;
    if (which == 1) {
      ibv_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
      nic::Srq* basic = nullptr;
      REQUIRE(xrc.net.b.nic->srqs().create(xrc.net.b.pd, &attr, &xrc.net.b, &basic) == 0);
      srqn = basic->number;
    }
    if (which == 2) srqn = xrc.create_srq(nullptr, nullptr, open_domain(xrc.net.b))->number;
    CHECK(xrc.send(srqn, 10) == IBV_WC_REM_INV_REQ_ERR);
    CHECK(xrc.targets[0]->state == IBV_QPS_ERR);
    CHECK(xrc.net.b.saw(IBV_EVENT_QP_REQ_ERR));
    CHECK(xrc.net.b.saw(IBV_EVENT_QP_LAST_WQE_REACHED));
  }
}

TEST_CASE("remote keys belong to the PD of the queue that the request names") {
  Xrc xrc;
  nic::Pd* pd = nullptr;
  REQUIRE(xrc.net.b.nic->pds().alloc(&pd) == 0);
  const std::uint32_t right = xrc.create_srq()->number;
  const std::uint32_t wrong = xrc.create_srq(nullptr, pd)->number;
  CHECK(xrc.rdma(IBV_WR_RDMA_WRITE, right, 16) == IBV_WC_SUCCESS);
  CHECK(xrc.rdma(IBV_WR_RDMA_READ, wrong, 16) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a large READ refers to the memory of the PD of the queue that the request names") {
  Xrc xrc;
  xrc.net.a.cable.shares_memory = xrc.net.b.cable.shares_memory = true;
  const std::vector<std::uint8_t> bytes = pattern(65536, 5);
  std::copy(bytes.begin(), bytes.end(), xrc.far.begin());
  nic::Pd* pd = nullptr;
  REQUIRE(xrc.net.b.nic->pds().alloc(&pd) == 0);
  const std::uint32_t right = xrc.create_srq()->number;
  const std::uint32_t wrong = xrc.create_srq(nullptr, pd)->number;
  CHECK(xrc.rdma(IBV_WR_RDMA_READ, right, 65536) == IBV_WC_SUCCESS);
  CHECK(xrc.near == bytes);
  CHECK(xrc.net.b.cable.referring == 1);
  xrc.net.b.cable.readable = false;
  std::fill(xrc.near.begin(), xrc.near.end(), std::uint8_t{0});
  CHECK(xrc.rdma(IBV_WR_RDMA_READ, right, 65536) == IBV_WC_SUCCESS);
  CHECK(xrc.near == bytes);
  CHECK(xrc.rdma(IBV_WR_RDMA_READ, wrong, 65536) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("an empty queue asks for another try") {
  Xrc xrc;
  nic::Srq* srq = xrc.create_srq();
  ibv_sge sge;
  xrc.start(xrc.request(&sge, IBV_WR_SEND, srq->number, 64));
  xrc.net.run(5 * kMillisecond);
  CHECK(xrc.net.b.nic->counters().send_rnr_err > 0);
  xrc.post(srq, 1, 0, 64);
  CHECK(xrc.finish().status == IBV_WC_SUCCESS);
}

TEST_CASE("a queue that is destroyed under a message ends it") {
  Xrc xrc;
  nic::Srq* srq = xrc.create_srq();
  xrc.post(srq, 1, 0, 8192);
  std::size_t seen = 0;
  xrc.net.a.cable.observe = [&](auto) { xrc.net.a.cable.unplugged = ++seen > 1; };
  ibv_sge sge;
  xrc.start(xrc.request(&sge, IBV_WR_SEND, srq->number, 8192));
  xrc.net.run(100 * kMicrosecond);
  REQUIRE(xrc.net.b.nic->srqs().destroy(srq) == 0);
  CHECK(xrc.targets[0]->state == IBV_QPS_ERR);
  const auto received = xrc.net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].status == IBV_WC_LOC_QP_OP_ERR);
  CHECK(xrc.finish().status == IBV_WC_REM_OP_ERR);
}

TEST_CASE("an overrun of the queue's CQ is an error of the queue") {
  Xrc xrc;
  nic::Cq* small = nullptr;
  REQUIRE(xrc.net.b.nic->cqs().create(1, &xrc.net.b, &small) == 0);
  nic::Srq* srq = xrc.create_srq(small);
  for (std::uint64_t i = 0; i < 3; ++i) xrc.post(srq, i, 0, 64);
  CHECK(xrc.send(srq->number, 8) == IBV_WC_SUCCESS);
  xrc.send(srq->number, 8);
  CHECK(xrc.net.b.saw(IBV_EVENT_CQ_ERR));
  CHECK(xrc.net.b.saw(IBV_EVENT_SRQ_ERR));
  CHECK(xrc.net.b.saw(IBV_EVENT_QP_FATAL));
}

TEST_CASE("objects that XRC objects keep from being destroyed, and calls that XRC objects reject") {
  Xrc xrc;
  nic::Nic& nic = *xrc.net.b.nic;
  nic::Srq* srq = xrc.create_srq();
  nic::Cq* cq = nullptr;
  REQUIRE(nic.cqs().create(4, &xrc.net.b, &cq) == 0);
  nic::Srq* with_cq = xrc.create_srq(cq);
  CHECK(nic.cqs().destroy(cq) == EBUSY);
  CHECK(nic.xrcds().close(xrc.xrcd) == EBUSY);
  CHECK(nic.srqs().destroy(with_cq) == 0);
  CHECK(nic.cqs().destroy(cq) == 0);
  CHECK(nic.srqs().destroy(srq) == 0);
  CHECK(nic.xrcds().close(xrc.xrcd) == EBUSY);  // the target QP

  nic::Qp* found = nullptr;
  CHECK(nic.qps().find_target(xrc.xrcd, xrc.targets[0]->number, &found) == 0);
  CHECK(found == xrc.targets[0]);
  CHECK(nic.qps().find_target(xrc.xrcd, 0xffffff, &found) == EINVAL);
  CHECK(nic.qps().find_target(open_domain(xrc.net.b), xrc.targets[0]->number, &found) == EINVAL);

  std::uint8_t byte = 0;
  const nic::Mr* mr = xrc.net.b.reg(&byte, 1);
  CHECK(post_recv(xrc.net.b, xrc.targets[0], 1, {sge_of(&byte, 1, mr)}) == EINVAL);
  CHECK(post_recv(xrc.net.a, xrc.initiators[0], 1, {sge_of(xrc.near.data(), 1, xrc.local)}) == EINVAL);
  ibv_sge sge;
  ibv_send_wr wr = xrc.request(&sge, IBV_WR_SEND, 1, 1);
  ibv_send_wr* bad = nullptr;
  CHECK(nic.data_path().post_send(xrc.targets[0], &wr, &bad) == EINVAL);
  REQUIRE(nic.qps().destroy(xrc.targets[0]) == 0);
  CHECK(nic.xrcds().close(xrc.xrcd) == 0);

  ibv_qp_init_attr init = {};
  init.qp_type = IBV_QPT_XRC_RECV;
  CHECK(nic.qps().create({.pd = xrc.net.b.pd}, &init, nullptr, &found) == EINVAL);
  init.qp_type = IBV_QPT_XRC_SEND;
  CHECK(nic.qps().create({.pd = xrc.net.b.pd}, &init, nullptr, &found) == EINVAL);
}

TEST_CASE("a file names a domain") {
  VirtualNetwork net;
  nic::Nic& nic = *net.a.nic;
  const nic::XrcdFile file{.device = 1, .inode = 2}, other{.device = 1, .inode = 3};
  nic::Xrcd* one = nullptr;
  nic::Xrcd* two = nullptr;
  CHECK(nic.xrcds().open(&file, false, false, &one) == EAGAIN);
  REQUIRE(nic.xrcds().open(&file, true, true, &one) == 0);
  CHECK(nic.xrcds().open(&file, true, true, &two) == EINVAL);
  REQUIRE(nic.xrcds().open(&file, false, false, &two) == 0);
  CHECK(one == two);
  REQUIRE(nic.xrcds().open(&other, true, false, &two) == 0);
  CHECK(one != two);
  CHECK(nic.xrcds().close(one) == 0);
  CHECK(nic.xrcds().close(one) == 0);
  CHECK(nic.xrcds().open(&file, false, false, &one) == EAGAIN);
  nic::Xrcd* unnamed = nullptr;
  REQUIRE(nic.xrcds().open(nullptr, false, false, &unnamed) == 0);
  REQUIRE(nic.xrcds().open(nullptr, false, false, &one) == 0);
  CHECK(one != unnamed);
}
