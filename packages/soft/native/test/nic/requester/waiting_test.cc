// What waits for the answers to earlier requests, which do not ask for one by themselves.
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

// Without an ACK timeout nothing is ever asked for again.
struct Unsignaled {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  std::vector<std::uint8_t> near = pattern(64), far = std::vector<std::uint8_t>(64);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote = net.b.reg(far.data(), far.size());

  explicit Unsignaled(std::uint32_t depth = 64, const nic::Rules& rules = {}, std::uint8_t timeout = 0)
      : net(false, 4096, rules), qa(net.a.create_qp(IBV_QPT_RC, depth)), qb(net.b.create_qp(IBV_QPT_RC, depth)) {
    net.connect(qa, qb, {.timeout = timeout});
    write(IBV_SEND_SIGNALED);
    go_on();
    REQUIRE(net.a.poll().size() == 1);
  }
  int write(unsigned flags = 0) {
    return post_send(net.a, qa,
                     {.opcode = IBV_WR_RDMA_WRITE,
                      .sges = {sge_of(near.data(), 64, local)},
                      .flags = flags,
                      .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
                      .rkey = remote->rkey()});
  }
  // A few round trips, of two microseconds each.
  void go_on() { net.run(net.now + 20 * kMicrosecond); }
  const nic::Counters& counters() const { return net.a.nic->counters(); }
};

}  // namespace

TEST_CASE("a local request comes soon behind messages that give no completion") {
  bool later = false;
  SUBCASE("it was posted when they were sent") {}
  SUBCASE("it was posted when they had been sent") { later = true; }
  Unsignaled work;
  nic::Mw* window = nullptr;
  REQUIRE(work.net.a.nic->mws().alloc(work.net.a.pd, IBV_MW_TYPE_2, &window) == 0);
  for (int i = 0; i < 3; ++i) REQUIRE(work.write() == 0);
  if (later) work.go_on();
  REQUIRE(post_send(work.net.a, work.qa, {.wr_id = 7, .opcode = IBV_WR_LOCAL_INV, .imm = window->rkey()}) == 0);
  work.go_on();
  const std::vector<ibv_wc> done = work.net.a.poll();
  REQUIRE(done.size() == 1);
  CHECK((done[0].wr_id == 7 && done[0].status == IBV_WC_SUCCESS));
  CHECK(work.counters().retransmitted_pkts == (later ? 1 : 0));
}

TEST_CASE("a request that fails here fails soon behind messages that give no completion") {
  Unsignaled work;
  for (int i = 0; i < 3; ++i) REQUIRE(work.write() == 0);
  Send wrong{.wr_id = 7, .sges = {sge_of(work.near.data(), 64, work.local)}};
  wrong.sges[0].lkey += 1;
  REQUIRE(post_send(work.net.a, work.qa, wrong) == 0);
  work.go_on();
  const std::vector<ibv_wc> done = work.net.a.poll();
  REQUIRE(done.size() == 1);
  CHECK((done[0].wr_id == 7 && done[0].status == IBV_WC_LOC_PROT_ERR));
}

TEST_CASE("a send queue is drained soon after messages that give no completion") {
  bool sent = true;
  SUBCASE("they were sent before") {}
  SUBCASE("they are under way") { sent = false; }
  Unsignaled work;
  for (int i = 0; i < 3; ++i) REQUIRE(work.write() == 0);
  if (sent) work.go_on();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_SQD;
  attr.en_sqd_async_notify = 1;
  if (!sent) work.net.a.nic->scheduler().pump(work.net.now);
  REQUIRE(work.net.a.nic->qps().modify(work.qa, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
  work.go_on();
  CHECK(work.net.a.saw(IBV_EVENT_SQ_DRAINED));
}

TEST_CASE("a queue that is full of messages without a completion has room again soon") {
  Unsignaled work(4, nic::Rules::rxe());
  for (int i = 0; i < 20; ++i) {
    int error = work.write();
    if (error == ENOMEM) {
      work.go_on();
      error = work.write();
    }
    REQUIRE(error == 0);
    work.net.run(work.net.now + kMicrosecond);
  }
  CHECK(work.counters().retransmitted_pkts == 0);
}

TEST_CASE("what waits for an answer that was asked for sends nothing again") {
  Unsignaled work(64, {}, 14);
  nic::Mw* window = nullptr;
  REQUIRE(work.net.a.nic->mws().alloc(work.net.a.pd, IBV_MW_TYPE_2, &window) == 0);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(work.write() == 0);
    if (i % 3 == 0) REQUIRE(work.write(IBV_SEND_SIGNALED) == 0);
    REQUIRE(post_send(work.net.a, work.qa, {.opcode = IBV_WR_LOCAL_INV, .imm = window->rkey()}) == 0);
    work.go_on();
    work.net.a.poll();
  }
  CHECK(work.counters().retransmitted_pkts == 0);
}
