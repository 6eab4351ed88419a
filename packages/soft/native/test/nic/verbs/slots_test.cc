// When the slot of a posted request is free again: adapters' libraries give it back when its completion is polled, the
// kernel's soft-RoCE when it is executed.
#include <doctest/doctest.h>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kDepth = 16;

// Two connected queue pairs of 16 requests each way, whose completion queue holds more.
struct Pair {
  explicit Pair(const nic::Rules& rules = {}, bool shared = false) : net(false, 4096, rules) {
    if (shared) {
      ibv_srq_attr attr{.max_wr = kDepth, .max_sge = 1, .srq_limit = 0};
      REQUIRE(net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &srq) == 0);
    }
    qb = net.b.create_qp(IBV_QPT_RC, kDepth, srq);
    net.connect(qa, qb);
  }

  int write(unsigned flags) {
    return post_send(net.a, qa,
                     {.opcode = IBV_WR_RDMA_WRITE,
                      .sges = {sge_of(near.data(), 8, local)},
                      .flags = flags,
                      .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
                      .rkey = remote->rkey()});
  }
  int send() { return post_send(net.a, qa, {.sges = {sge_of(near.data(), 8, local)}, .flags = IBV_SEND_SIGNALED}); }
  int receive() {
    ibv_sge sge = sge_of(far.data(), 8, remote);
    ibv_recv_wr wr{.wr_id = 0, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    return srq ? net.b.nic->data_path().post_srq_recv(srq, &wr, &bad) : net.b.nic->data_path().post_recv(qb, &wr, &bad);
  }
  // How many requests the queue takes while the network is idle between them, at most 100.
  template <typename Post>
  int posted(Post post) {
    for (int count = 0; count < 100; ++count) {
      const int error = post();
      if (error != 0) CHECK(error == ENOMEM);
      if (error != 0) return count;
      net.run();
    }
    return 100;
  }

  VirtualNetwork net;
  nic::Srq* srq = nullptr;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC, kDepth);
  nic::Qp* qb = nullptr;
  std::vector<std::uint8_t> near = pattern(64), far = std::vector<std::uint8_t>(64);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote = net.b.reg(far.data(), far.size());
};

}  // namespace

TEST_CASE(
    "a send request takes its slot until its completion was polled, so that the completion queue cannot overrun") {
  Pair pair;
  CHECK(pair.posted([&] { return pair.write(IBV_SEND_SIGNALED); }) == kDepth);
  ibv_wc wc;
  REQUIRE(pair.net.a.cq->poll(1, &wc) == 1);
  CHECK(pair.posted([&] { return pair.write(IBV_SEND_SIGNALED); }) == 1);
  CHECK(pair.net.a.poll().size() == kDepth);
  CHECK(pair.posted([&] { return pair.write(IBV_SEND_SIGNALED); }) == kDepth);
  CHECK_FALSE(pair.net.a.saw(IBV_EVENT_CQ_ERR));
}

TEST_CASE("a queue of unsignaled requests is stuck, and one that is signaled gives the slots before it back") {
  Pair pair;
  for (std::uint32_t i = 1; i < kDepth; ++i) REQUIRE(pair.write(0) == 0);
  REQUIRE(pair.write(IBV_SEND_SIGNALED) == 0);
  pair.net.run();
  CHECK(pair.write(0) == ENOMEM);
  CHECK(pair.net.a.poll().size() == 1);
  CHECK(pair.posted([&] { return pair.write(0); }) == kDepth);
  CHECK(pair.net.a.poll().empty());
  CHECK(pair.write(0) == ENOMEM);  // for ever
}

TEST_CASE("receive requests, of a queue pair and of a shared queue") {
  bool shared = false;
  SUBCASE("of a queue pair") {}
  SUBCASE("of a shared queue") { shared = true; }
  Pair pair(nic::Rules::mlx5(), shared);
  const auto exchange = [&] {
    if (const int error = pair.receive()) return error;
    REQUIRE(pair.send() == 0);
    pair.net.run();
    CHECK(pair.net.a.poll().size() == 1);
    return 0;
  };
  CHECK(pair.posted(exchange) == kDepth);
  CHECK(pair.net.b.poll().size() == kDepth);
  CHECK(pair.posted(exchange) == kDepth);
  if (!shared) return;
  // A queue pair that goes leaves its completions, but not the slots of the queue that others use.
  REQUIRE(pair.net.b.nic->qps().destroy(pair.qb) == 0);
  CHECK(pair.posted([&] { return pair.receive(); }) == kDepth);
  CHECK(pair.net.b.poll().size() == kDepth);
  CHECK(pair.receive() == ENOMEM);
  REQUIRE(pair.net.b.nic->srqs().destroy(pair.srq) == 0);
}

TEST_CASE("a reset gives all slots back, and completions of a queue pair that is gone give none") {
  Pair pair;
  CHECK(pair.posted([&] { return pair.write(IBV_SEND_SIGNALED); }) == kDepth);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  REQUIRE(pair.net.a.nic->qps().modify(pair.qa, &attr, IBV_QP_STATE) == 0);
  CHECK(pair.qa->sq.taken() == 0);
  CHECK(pair.net.a.poll().empty());
  CHECK(pair.qa->sq.taken() == 0);
  REQUIRE(pair.receive() == 0);
  attr.qp_state = IBV_QPS_ERR;
  REQUIRE(pair.net.b.nic->qps().modify(pair.qb, &attr, IBV_QP_STATE) == 0);
  REQUIRE(pair.net.b.nic->qps().destroy(pair.qb) == 0);
  CHECK(pair.net.b.poll().size() == 1);  // of memory that is not there any more, without harm
}

TEST_CASE("profile=rxe: the slot is free when the request was executed") {
  Pair pair(nic::Rules::rxe());
  CHECK(pair.posted([&] { return pair.write(0); }) == 100);
  CHECK(pair.posted([&] { return pair.write(IBV_SEND_SIGNALED); }) == 100);
  CHECK(pair.net.a.poll().size() == 100);
  const auto exchange = [&] {
    if (const int error = pair.receive()) return error;
    REQUIRE(pair.send() == 0);
    return 0;
  };
  CHECK(pair.posted(exchange) == 100);
  Pair shared(nic::Rules::rxe(), true);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(shared.receive() == 0);
    REQUIRE(shared.send() == 0);
    shared.net.run();
  }
}
