// Tag matching: which buffer a message goes to and what completes, the synchronization, and what a peer may do that it
// should not.
#include <doctest/doctest.h>

#include <random>

#include "link/faults/fault_plan.h"
#include "test/nic/responder/tag_matching_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("an eager message goes to its tagged buffer without its header") {
  Matching matching;
  matching.add(1, 7);
  matching.add(2, 8);
  matching.send_eager(8, 500);
  const auto done = matching.only();
  check(done, 2, IBV_WC_TM_RECV, kWhole);
  CHECK(done.wc.byte_len == 500 - kTagSize);
  CHECK(done.wc.qp_num == matching.to[0]->number);
  CHECK(done.wc.src_qp == matching.from[0]->number);
  CHECK(done.info.tag == 8);
  CHECK(done.info.priv == 0xabcd0008);
  CHECK(std::equal(matching.bytes(2), matching.bytes(2) + 500 - kTagSize, matching.near.begin() + kTagSize));
  CHECK(matching.net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(matching.net.b.nic->counters().rdma_recvs == 1);
}

TEST_CASE("an eager message of several packets completes twice: its match, and its data") {
  Matching matching;
  matching.add(1, 7);
  matching.send_eager(7, 5000);
  const auto all = matching.poll();
  REQUIRE(all.size() == 2);
  check(all[0], 1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
  CHECK(all[0].info.tag == 7);
  check(all[1], 1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
  CHECK(all[1].wc.byte_len == 5000 - kTagSize);
  CHECK(all[1].info.tag == 0);
  CHECK(std::equal(matching.bytes(1), matching.bytes(1) + 5000 - kTagSize, matching.near.begin() + kTagSize));
  CHECK(matching.net.b.nic->counters().rdma_recvs == 1);
}

TEST_CASE("messages of several queue pairs are matched in the order in which they come") {
  Matching matching({}, 3);
  for (std::uint64_t i = 1; i <= 3; ++i) matching.add(i, 7);
  for (const std::size_t qp : {2, 0, 1}) matching.send_eager(7, 100, qp);
  const auto all = matching.poll();
  REQUIRE(all.size() == 3);
  CHECK(all[0].wc.qp_num == matching.to[2]->number);
  CHECK(all[1].wc.qp_num == matching.to[0]->number);
  CHECK(all[2].wc.qp_num == matching.to[1]->number);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(all[i].wc.wr_id == i + 1);
}

TEST_CASE("immediate data and solicited events go with a matched message") {
  Matching matching;
  matching.add(1, 7);
  matching.cq->arm(true);
  matching.write_header(IBV_TMH_EAGER, 7);
  REQUIRE(matching.send(64, {.opcode = IBV_WR_SEND_WITH_IMM, .flags = IBV_SEND_SOLICITED, .imm = 99}) == 0);
  const auto done = matching.only();
  check(done, 1, IBV_WC_TM_RECV, kWhole | IBV_WC_WITH_IMM);
  CHECK(done.wc.imm_data == 99);
  CHECK(matching.net.b.notifications == 1);
}

TEST_CASE("a message that nothing matches goes to a receive request, with its header") {
  Matching matching;
  matching.add(1, 7);
  matching.post(2);
  matching.send_eager(8, 3000);
  const auto done = matching.only();
  check(done, 2, IBV_WC_TM_RECV, 0);
  CHECK(done.wc.byte_len == 3000);
  CHECK(done.info.tag == 0);
  CHECK(std::equal(matching.bytes(2), matching.bytes(2) + 3000, matching.near.begin()));
  CHECK_FALSE(matching.srq->tags->in_step());
}

TEST_CASE("a message without a tag, the end of a rendezvous and an empty message are never matched") {
  Matching matching;
  ibv_sge sge = matching.place(1, kRoom);
  ibv_ops_wr any = matching.addition(1, 0, &sge, 0, 0, 0);
  REQUIRE(matching.operate(&any) == 0);
  for (std::uint64_t i = 2; i < 6; ++i) matching.post(i);
  matching.write_header(IBV_TMH_NO_TAG, 7);
  REQUIRE(matching.send(1) == 0);
  REQUIRE(matching.send(3000) == 0);
  matching.write_header(IBV_TMH_FIN, 7);
  REQUIRE(matching.send(32) == 0);
  REQUIRE(matching.send(0) == 0);
  const auto all = matching.poll();
  REQUIRE(all.size() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) check(all[i], i + 2, IBV_WC_TM_NO_TAG, 0);
  CHECK(all[1].wc.byte_len == 3000);
  CHECK(all[3].wc.byte_len == 0);
  CHECK(matching.srq->tags->in_step());  // none was unexpected
}

TEST_CASE("a WRITE with immediate data takes a receive request") {
  Matching matching;
  matching.post(1);
  REQUIRE(matching.send(10, {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                             .remote_addr = reinterpret_cast<std::uintptr_t>(matching.far.data()),
                             .rkey = matching.remote->rkey(),
                             .imm = 5}) == 0);
  check(matching.only(), 1, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM);
}

TEST_CASE("without a receive request an unexpected message waits, and is counted once") {
  Matching matching;
  matching.write_header(IBV_TMH_EAGER, 7);
  REQUIRE(post_send(matching.net.a, matching.from[0], {.sges = {sge_of(matching.near.data(), 64, matching.local)}}) ==
          0);
  matching.net.run(5 * kMillisecond);
  CHECK(matching.net.b.nic->counters().send_rnr_err > 1);
  CHECK(matching.srq->tags->in_step());
  matching.post(1);
  matching.net.run();
  check(matching.only(), 1, IBV_WC_TM_RECV, 0);
  REQUIRE(matching.other(IBV_WR_TAG_SYNC, 1) == 0);
  check(matching.only(), 2000, IBV_WC_TM_SYNC, 0);
}

TEST_CASE("operations complete where they are asked to, with the need of a synchronization") {
  Matching matching;
  ibv_sge sge = matching.place(1, kRoom);
  ibv_ops_wr first = matching.addition(1, 7, &sge, IBV_OPS_SIGNALED);
  ibv_ops_wr second = matching.addition(2, 7, &sge);
  first.next = &second;
  REQUIRE(matching.operate(&first) == 0);
  CHECK(first.tm.handle != second.tm.handle);
  check(matching.only(), 1001, IBV_WC_TM_ADD, 0);
  REQUIRE(matching.other(IBV_WR_TAG_DEL, first.tm.handle) == 0);
  check(matching.only(), 2000, IBV_WC_TM_DEL, 0);
  matching.post(3);
  matching.send_eager(9, 64);
  check(matching.only(), 3, IBV_WC_TM_RECV, 0);

  // The program does not know of it yet.
  ibv_ops_wr third = matching.addition(3, 9, &sge, IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC, 0);
  REQUIRE(matching.operate(&third) == 0);
  check(matching.only(), 1003, IBV_WC_TM_ADD, IBV_WC_TM_SYNC_REQ);
  matching.post(4);
  matching.send_eager(9, 64);
  check(matching.only(), 4, IBV_WC_TM_RECV, IBV_WC_TM_SYNC_REQ);
  REQUIRE(matching.other(IBV_WR_TAG_SYNC, 1) == 0);
  check(matching.only(), 2000, IBV_WC_TM_SYNC, IBV_WC_TM_SYNC_REQ);
  REQUIRE(matching.other(IBV_WR_TAG_SYNC, 2, 0) == 0);
  CHECK(matching.poll().empty());
  matching.send_eager(9, 64);
  check(matching.only(), 3, IBV_WC_TM_RECV, kWhole);
}

TEST_CASE("a buffer that a message has taken cannot be removed, and the failure always completes") {
  Matching matching;
  const std::uint32_t handle = matching.add(1, 7);
  matching.send_eager(7, 64);
  check(matching.only(), 1, IBV_WC_TM_RECV, kWhole);
  REQUIRE(matching.other(IBV_WR_TAG_DEL, handle, 0) == 0);
  const auto done = matching.only();
  CHECK(done.wc.status == IBV_WC_TM_ERR);
  CHECK(done.wc.wr_id == 2000);
}

TEST_CASE("operations that cannot be are refused, and those before them are done") {
  Matching matching({}, 1, 2, 3);
  ibv_sge sges[2] = {matching.place(1, 64), matching.place(2, 64)};
  const auto refused = [&](const ibv_ops_wr& wr, int error, nic::Reason reason) {
    ibv_ops_wr copy = wr, *bad = nullptr;
    CHECK(matching.net.b.nic->data_path().post_srq_ops(matching.srq, &copy, &bad) == error);
    CHECK(bad == &copy);
    CHECK(matching.last_reason() == reason);
  };
  ibv_ops_wr wr = matching.addition(1, 7, sges);
  wr.tm.add.num_sge = 2;
  refused(wr, EINVAL, nic::Reason::kTooManySges);
  wr.tm.add.num_sge = -1;
  refused(wr, EINVAL, nic::Reason::kTooManySges);
  wr = matching.addition(1, 7, sges, 4);
  refused(wr, EINVAL, nic::Reason::kTagOperation);
  wr.flags = 0;
  wr.opcode = static_cast<ibv_ops_wr_opcode>(3);
  refused(wr, EINVAL, nic::Reason::kTagOperation);
  wr.opcode = IBV_WR_TAG_DEL;
  wr.tm.handle = 2;
  refused(wr, EINVAL, nic::Reason::kTagHandle);
  wr.tm.handle = UINT32_MAX;
  refused(wr, EINVAL, nic::Reason::kTagHandle);

  ibv_ops_wr list[3] = {matching.addition(1, 7, sges), matching.addition(2, 7, sges), matching.addition(3, 7, sges)};
  list[0].next = &list[1];
  list[1].next = &list[2];
  ibv_ops_wr* bad = nullptr;
  CHECK(matching.net.b.nic->data_path().post_srq_ops(matching.srq, list, &bad) == ENOMEM);
  CHECK(bad == &list[2]);
  CHECK(matching.last_reason() == nic::Reason::kTagListFull);
  CHECK(matching.srq->tags->full());

  // As many operations as completions that were not polled.
  for (int i = 0; i < 3; ++i) REQUIRE(matching.other(IBV_WR_TAG_SYNC, 0) == 0);
  CHECK(matching.other(IBV_WR_TAG_SYNC, 0) == ENOMEM);
  CHECK(matching.last_reason() == nic::Reason::kQueueFull);
  CHECK(matching.poll().size() == 3);
  CHECK(matching.other(IBV_WR_TAG_SYNC, 0) == 0);
}

TEST_CASE("a queue without tagged buffers has no such operations") {
  VirtualNetwork net;
  ibv_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  nic::Srq* srq = nullptr;
  REQUIRE(net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &srq) == 0);
  ibv_ops_wr wr = {}, *bad = nullptr;
  CHECK(net.b.nic->data_path().post_srq_ops(srq, &wr, &bad) == EINVAL);
}

TEST_CASE("the limits of a queue of type TM") {
  VirtualNetwork net;
  const auto create = [&](ibv_tm_cap tags) {
    ibv_srq_attr attr{.max_wr = 4, .max_sge = 1, .srq_limit = 0};
    nic::Srq* srq = nullptr;
    const int error = net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &srq, {.cq = net.b.cq, .tags = &tags});
    if (error == 0) CHECK(net.b.nic->srqs().destroy(srq) == 0);
    return error;
  };
  CHECK(create({0, 1}) == EINVAL);
  CHECK(create({1, 0}) == EINVAL);
  CHECK(create({nic::kMaxTags + 1, 1}) == EINVAL);
  CHECK(create({1, nic::kMaxTagOps + 1}) == EINVAL);
  CHECK(create({nic::kMaxTags, nic::kMaxTagOps}) == 0);
  CHECK(net.b.nic->cqs().destroy(net.b.cq) == 0);  // no user is left
}

TEST_CASE("a queue pair of a queue of type TM is of type RC, and sends nothing itself") {
  Matching matching;
  Station& b = matching.net.b;
  const auto create = [&](ibv_qp_type type, std::uint32_t max_send_wr) {
    ibv_qp_init_attr init = {};
    init.qp_type = type;
    init.cap.max_send_wr = max_send_wr;
    nic::Qp* qp = nullptr;
    return b.nic->qps().create({.pd = b.pd, .send_cq = b.cq, .recv_cq = b.cq, .srq = matching.srq}, &init, &b, &qp);
  };
  CHECK(create(IBV_QPT_RC, 1) == EINVAL);
  CHECK(matching.last_reason() == nic::Reason::kTagMatchingQp);
  CHECK(create(IBV_QPT_UC, 0) == EINVAL);
  CHECK(create(IBV_QPT_UD, 0) == EINVAL);
  nic::Pd* other = nullptr;
  REQUIRE(b.nic->pds().alloc(&other) == 0);
  ibv_qp_init_attr foreign = {};
  foreign.qp_type = IBV_QPT_RC;
  nic::Qp* none = nullptr;
  CHECK(b.nic->qps().create({.pd = other, .send_cq = b.cq, .recv_cq = b.cq, .srq = matching.srq}, &foreign, &b,
                            &none) == EINVAL);
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  REQUIRE(b.nic->qps().query(matching.to[0], &attr, &init) == 0);
  CHECK(init.cap.max_send_wr == 0);
  CHECK(post_send(b, matching.to[0], {}) == EINVAL);
  CHECK(matching.last_reason() == nic::Reason::kSendsOfTagMatching);
  CHECK(b.nic->srqs().destroy(matching.srq) == EBUSY);
}

TEST_CASE("headers that are none end the connection") {
  Matching matching;
  ibv_sge sge = matching.place(1, kRoom);
  ibv_ops_wr any = matching.addition(1, 0, &sge, 0, 0, 0);
  REQUIRE(matching.operate(&any) == 0);
  matching.post(2);
  matching.write_rendezvous(7, 100);
  std::uint32_t length = 0;
  SUBCASE("a short tag") {
    matching.near[0] = IBV_TMH_EAGER;
    length = kTagSize - 1;
  }
  SUBCASE("an operation that there is none of") {
    matching.near[0] = 4;
    length = 64;
  }
  SUBCASE("the last one") {
    matching.near[0] = 0xff;
    length = 1;
  }
  SUBCASE("a short rendezvous") { length = 31; }
  SUBCASE("a long rendezvous") { length = nic::kMaxRendezvousRequest + 1; }
  SUBCASE("a rendezvous of several packets") { length = 3000; }
  REQUIRE(matching.send(length) == 0);
  CHECK(matching.net.a.poll().at(0).status == IBV_WC_REM_INV_REQ_ERR);
  CHECK(matching.to[0]->state == IBV_QPS_ERR);
  CHECK(matching.poll().empty());  // nothing was taken
  CHECK(matching.net.b.nic->reasons().find_last([](const nic::ReasonEvent& event) {
    return event.why.reason == nic::Reason::kTagHeader && event.place == nic::Place::kResponder;
  }) != nullptr);
}

TEST_CASE("a message longer than its tagged buffer") {
  Matching matching;
  matching.add(1, 7, 100);
  matching.send_eager(7, kTagSize + 101);
  const auto done = matching.only();
  CHECK(done.wc.status == IBV_WC_LOC_LEN_ERR);
  CHECK(done.wc.wr_id == 1);
  CHECK(matching.net.a.poll().at(0).status == IBV_WC_REM_INV_REQ_ERR);
}

TEST_CASE("a message whose tagged buffer has no memory") {
  Matching matching;
  matching.add(1, 7, 100);
  REQUIRE(matching.net.b.nic->mrs().dereg(matching.remote) == 0);
  SUBCASE("eager") {
    matching.send_eager(7, 64);
    CHECK(matching.only().wc.status == IBV_WC_LOC_PROT_ERR);
  }
  SUBCASE("a rendezvous for the program") {
    matching.write_rendezvous(7, 200);
    REQUIRE(matching.send(32) == 0);
    CHECK(matching.only().wc.status == IBV_WC_LOC_PROT_ERR);
  }
  CHECK(matching.to[0]->state == IBV_QPS_ERR);
}

TEST_CASE("a payload that packets only refer to is sent, so that its header can be read") {
  Matching matching({.mtu = IBV_MTU_4096});
  matching.net.a.cable.shares_memory = true;
  ibv_sge sge = sge_of(matching.far.data(), 40000, matching.remote);
  ibv_ops_wr wr = matching.addition(1, 7, &sge);
  REQUIRE(matching.operate(&wr) == 0);
  matching.send_eager(7, 40000);
  CHECK(matching.net.a.cable.referring > 0);
  const auto all = matching.poll();
  REQUIRE(all.size() == 2);
  CHECK(all[1].wc.byte_len == 40000 - kTagSize);
  CHECK(std::equal(matching.far.begin(), matching.far.begin() + 40000 - kTagSize, matching.near.begin() + kTagSize));
}

TEST_CASE("a completion queue that overruns ends what completes there") {
  Matching matching;
  REQUIRE(matching.net.b.nic->cqs().resize(matching.cq, 1) == 0);
  REQUIRE(matching.other(IBV_WR_TAG_SYNC, 0) == 0);
  SUBCASE("a match") {
    matching.add(1, 7);
    matching.write_rendezvous(7, 100);
    REQUIRE(matching.send(32) == 0);
    CHECK(matching.to[0]->state == IBV_QPS_ERR);
  }
  SUBCASE("an operation") { REQUIRE(matching.other(IBV_WR_TAG_SYNC, 0) == 0); }
  CHECK(matching.net.b.saw(IBV_EVENT_CQ_ERR));
  CHECK(matching.net.b.saw(IBV_EVENT_SRQ_ERR));
}

TEST_CASE("messages and rendezvous of many sizes over a path that loses, doubles and reorders") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Matching matching({.mtu = IBV_MTU_256, .timeout = 8});
    link::FaultPlan plan;
    plan.seed = seed;
    plan.drop = 0.05;
    plan.duplicate = 0.05;
    matching.net.a.faults.set_plan(plan);
    plan.seed = seed + 1000;
    matching.net.b.faults.set_plan(plan);
    for (std::uint32_t i = 0; i < 20; ++i) {
      CAPTURE(i);
      const auto length = static_cast<std::uint32_t>(1 + (seed * 7919 + i * 677) % 6000);
      matching.add(1, i);
      const bool rendezvous = i % 2 == 0;
      if (rendezvous) {
        matching.write_rendezvous(i, length);
        REQUIRE(matching.send(32) == 0);
      } else {
        matching.send_eager(i, length + kTagSize);
      }
      const auto all = matching.poll();
      REQUIRE_FALSE(all.empty());
      CHECK(all.back().wc.status == IBV_WC_SUCCESS);
      CHECK(all.back().wc.byte_len == length);
      const auto begin = matching.near.begin() + (rendezvous ? 4096 : static_cast<int>(kTagSize));
      CHECK(std::equal(begin, begin + length, matching.bytes(1)));
      for (const ibv_wc& wc : matching.net.a.poll()) {
        CHECK(wc.status == IBV_WC_SUCCESS);
        if (wc.opcode != IBV_WC_RECV) continue;
        REQUIRE(post_recv(matching.net.a, matching.from[0], 100,
                          {sge_of(matching.near.data() + 60000, 1024, matching.local)}) == 0);
      }
    }
  }
}

TEST_CASE("random messages, headers and operations leave nothing behind") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    Matching matching(
        {.mtu = IBV_MTU_256, .timeout = 8, .retry_cnt = 1, .rnr_retry = 1, .access = below(8) == 0 ? 0u : 7u}, 2, 4, 4,
        below(2) == 0);
    Station& b = matching.net.b;
    std::vector<std::uint32_t> handles{0};
    for (int i = 0; i < 60; ++i) {
      const std::size_t qp = below(2);
      switch (below(10)) {
        case 0:
        case 1: {
          ibv_sge sge = matching.place(below(7), below(3) == 0 ? below(40) : kRoom);
          ibv_ops_wr wr =
              matching.addition(i, below(4), &sge, static_cast<int>(below(4)), below(3), below(4) == 0 ? 0 : 3);
          if (matching.operate(&wr) == 0) handles.push_back(wr.tm.handle);
          break;
        }
        case 2:
          matching.other(IBV_WR_TAG_DEL, handles[below(handles.size())], static_cast<int>(below(4)));
          break;
        case 3:
          matching.other(IBV_WR_TAG_SYNC, below(4), static_cast<int>(below(4)));
          break;
        case 4:
          if (!matching.srq->queue.full()) matching.post(below(7), below(3) == 0 ? below(300) : kRoom);
          break;
        case 5:
          matching.net.run(matching.net.now + below(5000) * kMicrosecond);
          break;
        case 6:
          matching.poll();
          matching.net.a.poll();
          break;
        default: {
          matching.write_rendezvous(below(4), below(9000),
                                    below(8) == 0 ? std::optional<std::uint32_t>(7) : std::nullopt);
          matching.near[0] = static_cast<std::uint8_t>(below(20) == 0 ? below(256) : below(4));
          const std::uint32_t length = below(2) == 0 ? 32 + below(33) : below(2000);
          post_send(matching.net.a, matching.from[qp],
                    {.opcode = below(8) == 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                     .sges = {sge_of(matching.near.data(), length, matching.local)},
                     .flags = below(2) == 0 ? unsigned{IBV_SEND_SIGNALED} : 0u});
          if (below(20) != 0) break;
          ibv_qp_attr attr = {};
          attr.qp_state = below(2) == 0 ? IBV_QPS_ERR : IBV_QPS_RESET;
          b.nic->qps().modify(matching.to[qp], &attr, IBV_QP_STATE);  // from RESET there is no way to ERR
        }
      }
    }
    if (below(2) == 0) matching.net.run();
    for (nic::Qp* qp : matching.to) REQUIRE(b.nic->qps().destroy(qp) == 0);
    for (int i = 0; i < 8; ++i) matching.poll();
    // What is posted and not taken is in the queues, and nothing else is.
    CHECK(matching.srq->queue.taken() == matching.srq->posted());
    CHECK(matching.srq->tags->ops == matching.srq->tags->ops_released);
    REQUIRE(b.nic->srqs().destroy(matching.srq) == 0);
    REQUIRE(b.nic->cqs().destroy(matching.cq) == 0);
  }
}
