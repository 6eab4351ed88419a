// UC: messages arrive whole or not at all, and nothing is acknowledged.
#include <sys/mman.h>

#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct UcPair {
  VirtualNetwork net;
  nic::Srq* srq = nullptr;
  nic::Qp* qa;
  nic::Qp* qb;
  std::vector<std::uint8_t> near = pattern(8192);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(8192);
  nic::Mr* local;
  nic::Mr* remote;

  explicit UcPair(bool shared = false, const Connection& connection = {})
      : srq(shared ? make_srq() : nullptr), qa(net.a.create_qp(IBV_QPT_UC)), qb(net.b.create_qp(IBV_QPT_UC, 64, srq)) {
    net.connect(qa, qb, connection);
    local = net.a.reg(near.data(), near.size());
    remote = net.b.reg(far.data(), far.size());
  }

  nic::Srq* make_srq() {
    ibv_srq_attr attr = {};
    attr.max_wr = 16;
    attr.max_sge = 2;
    nic::Srq* made = nullptr;
    REQUIRE(net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &made) == 0);
    return made;
  }

  void recv(std::uint64_t wr_id, std::uint32_t length = 8192) {
    ibv_sge sge = sge_of(far.data(), length, remote);
    if (srq == nullptr) {
      REQUIRE(post_recv(net.b, qb, wr_id, {sge}) == 0);
      return;
    }
    ibv_recv_wr wr = {};
    ibv_recv_wr* bad = nullptr;
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    REQUIRE(net.b.nic->data_path().post_srq_recv(srq, &wr, &bad) == 0);
  }

  Send write(std::uint32_t size, ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE) {
    return {.opcode = opcode,
            .sges = {sge_of(near.data(), size, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  }
  Send send(std::uint32_t size) { return {.sges = {sge_of(near.data(), size, local)}}; }

  // Posts and runs; the sender always succeeds, whatever became of the message.
  void go(const Send& what) {
    REQUIRE(post_send(net.a, qa, what) == 0);
    net.run();
    const auto done = net.a.poll();
    REQUIRE(done.size() == 1);
    CHECK(done[0].status == IBV_WC_SUCCESS);
  }

  void lose_nth(std::uint64_t nth) {
    link::FaultPlan plan;
    plan.nth = nth;
    plan.drop = 1;
    net.a.faults.set_plan(plan);
  }
};

}  // namespace

TEST_CASE("UC carries SEND and WRITE, with and without immediate, of every length around the MTU") {
  for (const std::uint32_t size : {0u, 1u, 1023u, 1024u, 1025u, 5000u}) {
    CAPTURE(size);
    UcPair pair;
    for (const ibv_wr_opcode opcode :
         {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM}) {
      CAPTURE(opcode);
      std::fill(pair.far.begin(), pair.far.end(), 0);
      pair.recv(opcode);
      Send what = pair.write(size, opcode);
      what.imm = htobe32(99);
      pair.go(what);
      CHECK(std::equal(pair.near.begin(), pair.near.begin() + size, pair.far.begin()));
      CHECK(std::count(pair.far.begin() + size, pair.far.end(), 0) == 8192 - size);
      const auto received = pair.net.b.poll();
      if (opcode == IBV_WR_RDMA_WRITE) {
        CHECK(received.empty());
        continue;
      }
      REQUIRE(received.size() == 1);
      CHECK(received[0].status == IBV_WC_SUCCESS);
      CHECK(received[0].byte_len == size);
      const bool imm = opcode != IBV_WR_SEND;
      CHECK(((received[0].wc_flags & IBV_WC_WITH_IMM) != 0) == imm);
      if (imm) CHECK(be32toh(received[0].imm_data) == 99);
    }
    // Nothing came back.
    for (const std::string& line : pair.net.trace) CHECK(line.find(" a UC ") != std::string::npos);
  }
}

TEST_CASE("a message that loses any of its packets is dropped, and the next one is received") {
  for (std::uint64_t lost = 1; lost <= 5; ++lost) {
    CAPTURE(lost);
    UcPair pair;
    pair.recv(1);
    pair.lose_nth(lost);
    pair.go(pair.send(5000));
    CHECK(pair.net.b.poll().empty());
    pair.go(pair.send(3000));
    const auto received = pair.net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].wr_id == 1);  // the receive request of the lost message
    CHECK(received[0].byte_len == 3000);
    CHECK(std::equal(pair.near.begin(), pair.near.begin() + 3000, pair.far.begin()));
    CHECK(pair.net.b.events.empty());
  }
}

TEST_CASE("a message cut off by the next one is dropped") {
  for (std::uint64_t lost = 1; lost <= 3; ++lost) {
    UcPair pair;
    pair.recv(1);
    pair.recv(2);
    pair.lose_nth(lost);
    REQUIRE(post_send(pair.net.a, pair.qa, pair.write(2500, IBV_WR_RDMA_WRITE_WITH_IMM)) == 0);
    REQUIRE(post_send(pair.net.a, pair.qa, pair.send(100)) == 0);
    pair.net.run();
    const auto received = pair.net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].opcode == IBV_WC_RECV);
    CHECK(received[0].byte_len == 100);
  }
}

TEST_CASE("a message that UC cannot receive is dropped without an error at either end") {
  UcPair pair;
  pair.go(pair.send(10));  // no receive request
  pair.go(pair.write(10, IBV_WR_RDMA_WRITE_WITH_IMM));
  Send bad = pair.write(2000);
  bad.rkey ^= 1;
  pair.go(bad);
  bad = pair.write(2000);
  bad.remote_addr += 7000;
  pair.go(bad);
  pair.recv(1, 100);
  pair.go(pair.send(101));  // does not fit
  pair.go(pair.send(2000));
  CHECK(pair.net.b.poll().empty());
  CHECK(pair.qb->state == IBV_QPS_RTS);
  CHECK(pair.net.b.events.empty());
  pair.go(pair.send(100));
  CHECK(pair.net.b.poll().at(0).wr_id == 1);

  Connection closed;
  closed.access = 0;
  UcPair strict(false, closed);
  std::fill(strict.far.begin(), strict.far.end(), 0);
  strict.go(strict.write(100));
  CHECK(std::count(strict.far.begin(), strict.far.end(), 0) == 8192);
}

TEST_CASE("a request out of a shared queue cannot be put back: it completes with the reason") {
  UcPair pair(true);
  pair.recv(1);
  pair.recv(2);
  pair.recv(3, 10);
  pair.lose_nth(3);
  pair.go(pair.send(5000));
  auto received = pair.net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].wr_id == 1);
  CHECK(received[0].status == IBV_WC_REM_ABORT_ERR);
  pair.go(pair.send(5000));
  CHECK(pair.net.b.poll().at(0).status == IBV_WC_SUCCESS);
  pair.go(pair.send(11));
  received = pair.net.b.poll();
  REQUIRE(received.size() == 1);
  CHECK(received[0].status == IBV_WC_LOC_LEN_ERR);
  CHECK(pair.qb->state == IBV_QPS_RTS);
}

TEST_CASE("a receive request whose memory is gone is the receiver's own error") {
  UcPair pair;
  void* gone = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  nic::Mr* mr = pair.net.b.reg(gone, 4096);
  munmap(gone, 4096);
  REQUIRE(post_recv(pair.net.b, pair.qb, 7, {sge_of(gone, 4096, mr)}) == 0);
  pair.go(pair.send(100));
  CHECK(pair.net.b.poll().at(0).status == IBV_WC_LOC_PROT_ERR);
  CHECK(pair.qb->state == IBV_QPS_ERR);
  CHECK(pair.net.b.saw(IBV_EVENT_QP_FATAL));
}

TEST_CASE("under loss, reordering and duplication every message that completes is whole") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    UcPair pair;
    link::FaultPlan plan;
    plan.seed = seed;
    plan.drop = 0.05;
    plan.duplicate = 0.05;
    plan.reorder = 0.05;
    pair.net.a.faults.set_plan(plan);
    std::size_t arrived = 0;
    for (int i = 0; i < 50; ++i) {
      const auto message = pattern(3000, static_cast<unsigned>(seed * 1000 + static_cast<std::uint64_t>(i)));
      std::copy(message.begin(), message.end(), pair.near.begin());
      pair.recv(static_cast<std::uint64_t>(i));
      pair.go(pair.send(3000));
      for (const ibv_wc& wc : pair.net.b.poll()) {
        ++arrived;
        CHECK(wc.status == IBV_WC_SUCCESS);
        CHECK(wc.byte_len == 3000);
        CHECK(std::equal(pair.near.begin(), pair.near.begin() + 3000, pair.far.begin()));
      }
    }
    CHECK(arrived > 10);
    CHECK(pair.qb->state == IBV_QPS_RTS);
  }
}

TEST_CASE("UC has no operations that need a response") {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
                                     IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV}) {
    UcPair pair;
    REQUIRE(post_send(pair.net.a, pair.qa, pair.write(64, opcode)) == 0);
    pair.net.run();
    const auto all = pair.net.a.poll();
    REQUIRE(all.size() == 1);
    CHECK(all[0].status == IBV_WC_LOC_QP_OP_ERR);
  }
}
