// The rendezvous of tag matching: the NIC reads the data of a message that has matched, and tells its sender.
#include "nic/core/rendezvous.h"

#include <doctest/doctest.h>

#include "test/nic/responder/tag_matching_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("a rendezvous: the match, the data, and the message to the sender") {
  for (const char* form : {"packets", "handed over", "carried"}) {
    CAPTURE(form);
    Matching matching({}, 1, 16, 16, std::string(form) != "packets");
    if (std::string(form) == "carried") matching.net.carry();
    matching.add(1, 7);
    matching.cq->arm(true);
    matching.write_rendezvous(7, 6000);
    REQUIRE(matching.send(48, {.flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED}) == 0);
    const auto all = matching.poll();
    REQUIRE(all.size() == 2);
    check(all[0], 1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
    CHECK(all[0].info.tag == 7);
    CHECK(all[0].info.priv == 0xabcd0007);
    check(all[1], 1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
    CHECK(all[1].wc.byte_len == 6000);
    CHECK(all[1].wc.qp_num == matching.to[0]->number);
    CHECK(std::equal(matching.bytes(1), matching.bytes(1) + 6000, matching.near.begin() + 4096));
    CHECK(matching.net.b.notifications == 1);
    CHECK(matching.net.b.poll().empty());  // nothing of the READ and the SEND
    CHECK(matching.to[0]->sq.taken() == 0);
    const auto sender = matching.net.a.poll();
    REQUIRE(sender.size() == 2);
    CHECK(sender[0].opcode == IBV_WC_SEND);
    CHECK(sender[1].opcode == IBV_WC_RECV);
    CHECK(sender[1].byte_len == 32);
    const std::uint8_t* fin = matching.near.data() + 60000;
    CHECK(fin[0] == IBV_TMH_FIN);
    CHECK(std::equal(fin + 1, fin + 32, matching.near.begin() + 1));
  }
}

TEST_CASE("a rendezvous of no bytes, and one into a buffer of just its size") {
  Matching matching;
  matching.add(1, 7, 0);
  matching.add(2, 7, 5000);
  for (const std::uint32_t length : {0u, 5000u}) {
    matching.write_rendezvous(7, length);
    REQUIRE(matching.send(32) == 0);
    const auto all = matching.poll();
    REQUIRE(all.size() == 2);
    CHECK(all[1].wc.status == IBV_WC_SUCCESS);
    CHECK(all[1].wc.byte_len == length);
  }
  CHECK(std::equal(matching.bytes(2), matching.bytes(2) + 5000, matching.near.begin() + 4096));
}

TEST_CASE("more rendezvous than a queue pair has room for wait at their sender") {
  constexpr std::uint32_t kMessages = nic::kMostRendezvous + 2;
  Matching matching({}, 1, nic::kMaxTags);
  REQUIRE(matching.net.b.nic->cqs().resize(matching.cq, 2 * static_cast<int>(kMessages)) == 0);
  const auto move = [&](ibv_qp_state state) {
    ibv_qp_attr attr = {};
    attr.qp_state = state;
    REQUIRE(matching.net.b.nic->qps().modify(matching.to[0], &attr, IBV_QP_STATE) == 0);
  };
  std::uint32_t ended = 0;
  const auto run = [&] {
    matching.net.run(matching.net.now + kMillisecond);
    for (const ibv_wc& wc : matching.net.a.poll()) {
      CHECK(wc.status == IBV_WC_SUCCESS);
      if (wc.opcode != IBV_WC_RECV) continue;
      ++ended;
      REQUIRE(post_recv(matching.net.a, matching.from[0], 1,
                        {sge_of(matching.near.data() + 60000, 1024, matching.local)}) == 0);
    }
  };
  ibv_sge sge = matching.place(1, kRoom);
  move(IBV_QPS_SQD);  // no READ starts
  matching.write_rendezvous(7, 100);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ibv_ops_wr wr = matching.addition(i, 7, &sge);
    REQUIRE(matching.operate(&wr) == 0);
    REQUIRE(post_send(matching.net.a, matching.from[0], {.sges = {sge_of(matching.near.data(), 32, matching.local)}}) ==
            0);
    run();
  }
  CHECK(matching.poll().size() == nic::kMostRendezvous);
  CHECK(matching.net.b.nic->counters().send_rnr_err > 0);
  move(IBV_QPS_RTS);
  for (int i = 0; i < 1000 && ended < kMessages; ++i) run();
  CHECK(ended == kMessages);
  std::uint64_t matches = 0, data = 0;
  for (const auto& done : matching.poll()) {
    CHECK(done.wc.status == IBV_WC_SUCCESS);
    if (done.wc.wc_flags == IBV_WC_TM_DATA_VALID) CHECK(done.wc.wr_id == data++);
    if (done.wc.wc_flags == IBV_WC_TM_MATCH) CHECK(done.wc.wr_id == nic::kMostRendezvous + matches++);
  }
  CHECK(matches == 2);
  CHECK(data == kMessages);
}

TEST_CASE("a buffer too short for a rendezvous gets the headers, and the program does the rest") {
  Matching matching;
  matching.add(1, 7, 64);
  matching.add(2, 7, 20);
  matching.write_rendezvous(7, 65);
  REQUIRE(matching.send(48) == 0);
  auto done = matching.only();
  CHECK(done.wc.status == IBV_WC_TM_RNDV_INCOMPLETE);
  CHECK(done.wc.wr_id == 1);
  CHECK(done.wc.wc_flags == kWhole);
  CHECK(done.wc.byte_len == 32);
  CHECK(done.info.tag == 7);
  CHECK(std::equal(matching.bytes(1), matching.bytes(1) + 32, matching.near.begin()));
  CHECK(matching.bytes(1)[32] == 0);
  // … as far as they fit.
  REQUIRE(matching.send(48) == 0);
  done = matching.only();
  CHECK(done.wc.status == IBV_WC_TM_RNDV_INCOMPLETE);
  CHECK(done.wc.wc_flags == IBV_WC_TM_MATCH);
  CHECK(done.wc.byte_len == 20);
  CHECK(matching.to[0]->state == IBV_QPS_RTS);
  for (const ibv_wc& wc : matching.net.a.poll()) CHECK(wc.opcode == IBV_WC_SEND);  // no FIN
}

TEST_CASE("a rendezvous whose data cannot be read is incomplete") {
  Matching matching;
  matching.add(1, 7);
  SUBCASE("the key names nothing") { matching.write_rendezvous(7, 100, 0xdead00); }
  SUBCASE("the range is beyond the region") {
    matching.write_rendezvous(7, 8000);
    store<std::uint64_t>(matching.near.data() + 16,
                         reinterpret_cast<std::uintptr_t>(matching.near.data() + matching.near.size() - 100));
  }
  SUBCASE("the buffer is gone") {
    matching.write_rendezvous(7, 100);
    REQUIRE(matching.net.b.nic->mrs().dereg(matching.remote) == 0);
  }
  REQUIRE(matching.send(32) == 0);
  const auto all = matching.poll();
  REQUIRE(all.size() == 2);
  check(all[0], 1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
  CHECK(all[1].wc.status == IBV_WC_TM_RNDV_INCOMPLETE);
  CHECK(all[1].wc.wr_id == 1);
  CHECK(matching.to[0]->state == IBV_QPS_ERR);
  CHECK(matching.net.b.saw(IBV_EVENT_QP_LAST_WQE_REACHED));
}

TEST_CASE("a queue pair that may not READ cannot do a rendezvous") {
  Matching matching({.rd_atomic = 0});
  matching.add(1, 7);
  matching.write_rendezvous(7, 100);
  REQUIRE(matching.send(32) == 0);
  const auto all = matching.poll();
  REQUIRE(all.size() == 2);
  CHECK(all[1].wc.status == IBV_WC_TM_RNDV_INCOMPLETE);
}

TEST_CASE("a peer that dies in a rendezvous, or in a message") {
  Matching matching({.timeout = 8, .retry_cnt = 1});
  matching.add(1, 7);
  SUBCASE("before its data was read") {
    matching.write_rendezvous(7, 6000);
    matching.net.b.cable.observe = [&](auto) { matching.net.b.cable.unplugged = true; };
    REQUIRE(matching.send(32) == 0);
    const auto all = matching.poll();
    REQUIRE(all.size() == 2);
    CHECK(all[1].wc.status == IBV_WC_TM_RNDV_INCOMPLETE);
    CHECK(matching.to[0]->state == IBV_QPS_ERR);
  }
  SUBCASE("in an eager message") {
    matching.write_header(IBV_TMH_EAGER, 7);
    // The first packet is on the cable before it is cut.
    matching.net.a.cable.observe = [&, seen = 0](auto) mutable { matching.net.a.cable.unplugged = ++seen > 1; };
    REQUIRE(matching.send(5000) == 0);
    check(matching.only(), 1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_ERR;
    REQUIRE(matching.net.b.nic->qps().modify(matching.to[0], &attr, IBV_QP_STATE) == 0);
    const auto done = matching.only();
    CHECK(done.wc.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(done.wc.wr_id == 1);
  }
  SUBCASE("in an unexpected message: the program never learns of it, and need not count it") {
    matching.post(2);
    matching.write_header(IBV_TMH_EAGER, 8);
    matching.net.a.cable.observe = [&, seen = 0](auto) mutable { matching.net.a.cable.unplugged = ++seen > 1; };
    REQUIRE(matching.send(5000) == 0);
    CHECK(matching.poll().empty());
    REQUIRE(matching.other(IBV_WR_TAG_SYNC, 0) == 0);
    check(matching.only(), 2000, IBV_WC_TM_SYNC, IBV_WC_TM_SYNC_REQ);
    bool destroyed = false;
    SUBCASE("the queue pair fails") {
      ibv_qp_attr attr = {};
      attr.qp_state = IBV_QPS_ERR;
      REQUIRE(matching.net.b.nic->qps().modify(matching.to[0], &attr, IBV_QP_STATE) == 0);
      CHECK(matching.only().wc.status == IBV_WC_WR_FLUSH_ERR);
    }
    SUBCASE("it is destroyed") {
      REQUIRE(matching.net.b.nic->qps().destroy(matching.to[0]) == 0);
      destroyed = true;
    }
    REQUIRE(matching.other(IBV_WR_TAG_SYNC, 0) == 0);
    check(matching.only(), 2000, IBV_WC_TM_SYNC, 0);
    if (destroyed) CHECK(matching.srq->queue.taken() == 0);
  }
}

TEST_CASE("a queue pair is reset or destroyed with a rendezvous under way, and the queue goes on") {
  for (const bool destroys : {false, true}) {
    CAPTURE(destroys);
    Matching matching({}, 2, 2);
    matching.add(1, 7);
    matching.write_rendezvous(7, 6000);
    REQUIRE(post_send(matching.net.a, matching.from[0], {.sges = {sge_of(matching.near.data(), 32, matching.local)}}) ==
            0);
    matching.net.b.cable.unplugged = true;
    matching.net.run(100 * kMicrosecond);
    CHECK(matching.to[0]->sq.taken() == 1);
    matching.net.b.cable.unplugged = false;
    if (destroys) {
      REQUIRE(matching.net.b.nic->qps().destroy(matching.to[0]) == 0);
    } else {
      ibv_qp_attr attr = {};
      attr.qp_state = IBV_QPS_RESET;
      REQUIRE(matching.net.b.nic->qps().modify(matching.to[0], &attr, IBV_QP_STATE) == 0);
    }
    check(matching.only(), 1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
    matching.add(1, 7);
    matching.add(2, 7);
    matching.send_eager(7, 100, 1);
    check(matching.only(), 1, IBV_WC_TM_RECV, kWhole);
    CHECK(matching.srq->queue.taken() == 0);
  }
}
