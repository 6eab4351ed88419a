// RC operations on a perfect cable: the data that arrives, and the completions.
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct Pair {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  explicit Pair(const Connection& connection = {}, bool ipv6 = false)
      : net(ipv6), qa(net.a.create_qp(IBV_QPT_RC)), qb(net.b.create_qp(IBV_QPT_RC)) {
    net.connect(qa, qb, connection);
  }
};

}  // namespace

TEST_CASE("SEND carries messages of every length around the MTU") {
  for (const bool ipv6 : {false, true}) {
    for (const std::size_t size : {0u, 1u, 3u, 4u, 1023u, 1024u, 1025u, 2048u, 5000u, 70000u}) {
      CAPTURE(size);
      Pair pair({}, ipv6);
      auto from = pattern(size + 1);
      std::vector<std::uint8_t> to(size + 1, 0xee);
      nic::Mr* source = pair.net.a.reg(from.data(), from.size());
      nic::Mr* target = pair.net.b.reg(to.data(), to.size());
      REQUIRE(post_recv(pair.net.b, pair.qb, 7, {sge_of(to.data(), static_cast<std::uint32_t>(to.size()), target)}) ==
              0);
      REQUIRE(post_send(pair.net.a, pair.qa,
                        {.sges = {sge_of(from.data(), static_cast<std::uint32_t>(size), source)}}) == 0);
      pair.net.run();
      const auto sent = pair.net.a.poll();
      const auto received = pair.net.b.poll();
      REQUIRE(sent.size() == 1);
      CHECK(sent[0].status == IBV_WC_SUCCESS);
      CHECK(sent[0].opcode == IBV_WC_SEND);
      REQUIRE(received.size() == 1);
      CHECK(received[0].status == IBV_WC_SUCCESS);
      CHECK(received[0].wr_id == 7);
      CHECK(received[0].byte_len == size);
      CHECK(received[0].qp_num == pair.qb->number);
      CHECK(std::equal(from.begin(), from.end() - 1, to.begin()));
      CHECK(to[size] == 0xee);
    }
  }
}

TEST_CASE("scatter and gather lists split where they like") {
  Pair pair;
  auto from = pattern(6000);
  std::vector<std::uint8_t> to(6000);
  nic::Mr* source = pair.net.a.reg(from.data(), from.size());
  nic::Mr* target = pair.net.b.reg(to.data(), to.size());
  REQUIRE(post_recv(pair.net.b, pair.qb, 1,
                    {sge_of(to.data(), 1, target), sge_of(to.data() + 1, 4096, target),
                     sge_of(to.data() + 4097, 1903, target)}) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa,
                    {.sges = {sge_of(from.data(), 3000, source), sge_of(from.data() + 3000, 2999, source),
                              sge_of(from.data() + 5999, 1, source)}}) == 0);
  pair.net.run();
  CHECK(pair.net.b.poll().size() == 1);
  CHECK(from == to);
}

TEST_CASE("SEND with immediate, inline and unsignaled") {
  Pair pair;
  std::vector<std::uint8_t> to(64);
  nic::Mr* target = pair.net.b.reg(to.data(), to.size());
  REQUIRE(post_recv(pair.net.b, pair.qb, 1, {sge_of(to.data(), 64, target)}) == 0);
  char text[] = "no region needed";
  REQUIRE(post_send(pair.net.a, pair.qa,
                    {.opcode = IBV_WR_SEND_WITH_IMM,
                     .sges = {{reinterpret_cast<std::uint64_t>(text), sizeof text, 0}},
                     .flags = IBV_SEND_INLINE,
                     .imm = htobe32(0xcafe)}) == 0);
  std::memset(text, 0, sizeof text);
  pair.net.run();
  CHECK(pair.net.a.poll().empty());
  const auto received = pair.net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK((received[0].wc_flags & IBV_WC_WITH_IMM) != 0);
  CHECK(be32toh(received[0].imm_data) == 0xcafe);
  CHECK(std::string(reinterpret_cast<char*>(to.data())) == "no region needed");
}

TEST_CASE("RDMA WRITE, with and without immediate") {
  for (const std::uint32_t size : {0u, 1u, 1024u, 100'001u}) {
    CAPTURE(size);
    Pair pair;
    auto from = pattern(size + 1);
    std::vector<std::uint8_t> to(size + 1);
    nic::Mr* source = pair.net.a.reg(from.data(), from.size());
    nic::Mr* target = pair.net.b.reg(to.data(), to.size());
    Send write{.opcode = IBV_WR_RDMA_WRITE,
               .sges = {sge_of(from.data(), size, source)},
               .remote_addr = reinterpret_cast<std::uint64_t>(to.data()),
               .rkey = target->rkey()};
    REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);
    pair.net.run();
    CHECK(pair.net.b.poll().empty());
    CHECK(std::equal(from.begin(), from.end() - 1, to.begin()));
    REQUIRE(pair.net.a.poll().at(0).opcode == IBV_WC_RDMA_WRITE);

    REQUIRE(post_recv(pair.net.b, pair.qb, 9, {}) == 0);
    write.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    write.imm = 42;
    REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);
    pair.net.run();
    const auto received = pair.net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK(received[0].byte_len == size);
    CHECK(received[0].imm_data == 42);
  }
}

TEST_CASE("RDMA READ of every length, more of them than may be outstanding") {
  for (const std::uint32_t size : {0u, 1u, 1024u, 1025u, 32u * 1024, 300'000u}) {
    CAPTURE(size);
    Pair pair;
    auto from = pattern(size + 1);
    nic::Mr* source = pair.net.b.reg(from.data(), from.size());
    std::vector<std::vector<std::uint8_t>> to(10, std::vector<std::uint8_t>(size + 1));
    for (auto& buffer : to) {
      nic::Mr* target = pair.net.a.reg(buffer.data(), buffer.size());
      REQUIRE(post_send(pair.net.a, pair.qa,
                        {.opcode = IBV_WR_RDMA_READ,
                         .sges = {sge_of(buffer.data(), size, target)},
                         .remote_addr = reinterpret_cast<std::uint64_t>(from.data()),
                         .rkey = source->rkey()}) == 0);
    }
    pair.net.run();
    const auto done = pair.net.a.poll();
    REQUIRE(done.size() == to.size());
    for (const ibv_wc& wc : done) {
      CHECK(wc.status == IBV_WC_SUCCESS);
      CHECK(wc.opcode == IBV_WC_RDMA_READ);
      CHECK(wc.byte_len == size);
    }
    for (const auto& buffer : to) CHECK(std::equal(from.begin(), from.end() - 1, buffer.begin()));
  }
}

TEST_CASE("a fence waits for the reads before it") {
  Pair pair;
  std::vector<std::uint8_t> near(8, 1);
  std::vector<std::uint8_t> far(8, 2);
  nic::Mr* local = pair.net.a.reg(near.data(), near.size());
  nic::Mr* remote = pair.net.b.reg(far.data(), far.size());
  Send read{.wr_id = 1,
            .opcode = IBV_WR_RDMA_READ,
            .sges = {sge_of(near.data(), 8, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  Send write = read;
  write.wr_id = 2;
  write.opcode = IBV_WR_RDMA_WRITE;
  write.flags |= IBV_SEND_FENCE;
  REQUIRE(post_send(pair.net.a, pair.qa, read) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);
  pair.net.a.nic->scheduler().pump(0);
  CHECK(pair.net.trace.size() == 1);  // only the READ request went out
  pair.net.run();
  CHECK(pair.net.a.poll().size() == 2);
  CHECK(near[0] == 2);
}

TEST_CASE("an event comes for armed CQs, and for solicited ones only when asked so") {
  Pair pair;
  std::vector<std::uint8_t> to(64);
  nic::Mr* target = pair.net.b.reg(to.data(), to.size());
  for (int i = 0; i < 4; ++i) REQUIRE(post_recv(pair.net.b, pair.qb, 1, {sge_of(to.data(), 64, target)}) == 0);
  const auto send = [&](unsigned flags) {
    REQUIRE(post_send(pair.net.a, pair.qa, {.flags = flags}) == 0);
    pair.net.run();
  };
  send(0);
  CHECK(pair.net.b.notifications == 0);
  pair.net.b.cq->arm(true);
  send(0);
  CHECK(pair.net.b.notifications == 0);
  send(IBV_SEND_SOLICITED);
  CHECK(pair.net.b.notifications == 1);
  send(IBV_SEND_SOLICITED);
  CHECK(pair.net.b.notifications == 1);
}

TEST_CASE("a drained send queue says so") {
  Pair pair;
  std::vector<std::uint8_t> bytes(50'000);
  nic::Mr* local = pair.net.a.reg(bytes.data(), bytes.size());
  nic::Mr* remote = pair.net.b.reg(bytes.data(), bytes.size());
  const Send write{.opcode = IBV_WR_RDMA_WRITE,
                   .sges = {sge_of(bytes.data(), 50'000, local)},
                   .remote_addr = reinterpret_cast<std::uint64_t>(bytes.data()),
                   .rkey = remote->rkey()};
  REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);
  pair.net.a.nic->scheduler().pump(0);
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_SQD;
  attr.en_sqd_async_notify = 1;
  REQUIRE(pair.net.a.nic->qps().modify(pair.qa, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);
  CHECK_FALSE(pair.net.a.saw(IBV_EVENT_SQ_DRAINED));
  pair.net.run();
  CHECK(pair.net.a.saw(IBV_EVENT_SQ_DRAINED));
  CHECK(pair.net.a.poll().size() == 1);
  attr.qp_state = IBV_QPS_RTS;
  REQUIRE(pair.net.a.nic->qps().modify(pair.qa, &attr, IBV_QP_STATE) == 0);
  pair.net.run();
  CHECK(pair.net.a.poll().size() == 1);
}
