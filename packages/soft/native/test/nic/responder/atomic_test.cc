// Atomic operations: their results, that none is executed twice, and how they fail.
#include <sys/mman.h>

#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr unsigned kAtomicAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ;

Connection with_atomics() {
  Connection connection;
  connection.access |= IBV_ACCESS_REMOTE_ATOMIC;
  return connection;
}

struct AtomicPair {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  alignas(8) std::uint64_t result[64] = {};
  alignas(8) std::uint64_t remote[4] = {};
  nic::Mr* local;
  nic::Mr* target;

  explicit AtomicPair(const Connection& connection = with_atomics(), unsigned access = kAtomicAccess)
      : qa(net.a.create_qp(IBV_QPT_RC)), qb(net.b.create_qp(IBV_QPT_RC)) {
    net.connect(qa, qb, connection);
    local = net.a.reg(result, sizeof result);
    target = net.b.reg(remote, sizeof remote, access);
  }

  Send add(std::uint64_t value, int slot = 0) {
    return {.wr_id = static_cast<std::uint64_t>(slot),
            .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
            .sges = {sge_of(&result[slot], 8, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(remote),
            .rkey = target->rkey(),
            .compare_add = value};
  }

  Send swap(std::uint64_t compare, std::uint64_t value, int slot = 0) {
    Send send = add(compare, slot);
    send.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    send.swap = value;
    return send;
  }

  ibv_wc run(const Send& send) {
    REQUIRE(post_send(net.a, qa, send) == 0);
    net.run();
    const auto done = net.a.poll();
    REQUIRE(done.size() == 1);
    return done[0];
  }
};

}  // namespace

TEST_CASE("FETCH_ADD adds and returns the value before, in the byte order of the host") {
  AtomicPair pair;
  pair.remote[0] = 0x0102030405060708;
  const ibv_wc wc = pair.run(pair.add(0x10));
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(wc.opcode == IBV_WC_FETCH_ADD);
  CHECK(wc.byte_len == 8);
  CHECK(pair.result[0] == 0x0102030405060708);
  CHECK(pair.remote[0] == 0x0102030405060718);
  CHECK(pair.run(pair.add(UINT64_MAX)).status == IBV_WC_SUCCESS);
  CHECK(pair.remote[0] == 0x0102030405060717);
  CHECK(pair.remote[1] == 0);
}

TEST_CASE("CMP_SWAP swaps only what it expects, and returns the value before either way") {
  AtomicPair pair;
  pair.remote[0] = 7;
  const ibv_wc wc = pair.run(pair.swap(7, 9));
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(wc.opcode == IBV_WC_COMP_SWAP);
  CHECK(pair.result[0] == 7);
  CHECK(pair.remote[0] == 9);
  CHECK(pair.run(pair.swap(7, 11)).status == IBV_WC_SUCCESS);
  CHECK(pair.result[0] == 9);
  CHECK(pair.remote[0] == 9);
}

TEST_CASE("the result may be scattered, and a longer local list is left alone behind it") {
  AtomicPair pair;
  pair.remote[0] = 0x1122334455667788;
  std::uint8_t bytes[16] = {};
  nic::Mr* mr = pair.net.a.reg(bytes, sizeof bytes);
  Send send = pair.add(1);
  send.sges = {sge_of(bytes, 3, mr), sge_of(bytes + 4, 9, mr)};
  CHECK(pair.run(send).status == IBV_WC_SUCCESS);
  std::uint64_t before = 0;
  std::memcpy(&before, bytes, 3);
  std::memcpy(reinterpret_cast<std::uint8_t*>(&before) + 3, bytes + 4, 5);
  CHECK(before == 0x1122334455667788);
  CHECK(std::count(bytes + 9, bytes + 16, 0) == 7);
}

TEST_CASE("many atomics, more than may be outstanding, mixed with other requests, are executed once each") {
  for (const double loss : {0.0, 0.2}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(loss);
      CAPTURE(seed);
      AtomicPair pair;
      link::FaultPlan plan;
      plan.seed = seed;
      plan.drop = loss;
      plan.duplicate = loss / 2;
      pair.net.a.faults.set_plan(plan);
      plan.seed += 1000;
      pair.net.b.faults.set_plan(plan);
      constexpr int kCount = 60;
      for (int i = 0; i < kCount; ++i) {
        Send send = i % 3 == 2 ? pair.swap(~0ull, 0, i) : pair.add(1, i);
        REQUIRE(post_send(pair.net.a, pair.qa, send) == 0);
      }
      pair.net.run();
      const auto done = pair.net.a.poll();
      REQUIRE(done.size() == kCount);
      std::uint64_t expected = 0;
      for (int i = 0; i < kCount; ++i) {
        CHECK(done[static_cast<std::size_t>(i)].status == IBV_WC_SUCCESS);
        CHECK(done[static_cast<std::size_t>(i)].wr_id == static_cast<std::uint64_t>(i));
        CHECK(pair.result[i] == expected);
        if (i % 3 != 2) ++expected;
      }
      CHECK(pair.remote[0] == expected);
    }
  }
}

TEST_CASE("a lost response is sent again from the replay cache") {
  AtomicPair pair;
  pair.net.b.cable.unplugged = true;
  REQUIRE(post_send(pair.net.a, pair.qa, pair.add(5)) == 0);
  pair.net.run(500 * kMicrosecond);
  CHECK(pair.remote[0] == 5);
  CHECK(pair.net.a.poll().empty());
  pair.remote[0] = 100;  // the application changed the word meanwhile
  pair.net.b.cable.unplugged = false;
  pair.net.run();
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(pair.result[0] == 0);
  CHECK(pair.remote[0] == 100);
  CHECK(pair.net.b.nic->counters().duplicate_request > 0);
}

TEST_CASE("a fence waits for atomics, and the order of the queue is kept without one") {
  AtomicPair pair;
  Send write = pair.add(0);
  write.opcode = IBV_WR_RDMA_WRITE;
  write.rkey = pair.net.b.reg(pair.remote, 8)->rkey();
  write.flags |= IBV_SEND_FENCE;
  pair.remote[0] = 41;
  pair.result[0] = 0;
  REQUIRE(post_send(pair.net.a, pair.qa, pair.add(1, 0)) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa, write) == 0);  // writes the fetched value back
  pair.net.run();
  CHECK(pair.net.a.poll().size() == 2);
  CHECK(pair.result[0] == 41);
  CHECK(pair.remote[0] == 41);
}

TEST_CASE("atomics that get a NAK") {
  const auto refused = [](AtomicPair& pair, const Send& send, ibv_wc_status status, ibv_event_type event) {
    const ibv_wc wc = pair.run(send);
    CHECK(wc.status == status);
    CHECK(pair.net.b.saw(event));
    CHECK(pair.qa->state == IBV_QPS_ERR);
    CHECK(pair.qb->state == IBV_QPS_ERR);
    CHECK(pair.remote[0] == 0);
  };
  {
    AtomicPair pair;
    Send send = pair.add(1);
    send.remote_addr += 4;
    refused(pair, send, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  {
    AtomicPair pair{Connection{}};  // the QP does not allow them
    refused(pair, pair.add(1), IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  {
    AtomicPair pair(with_atomics(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);  // the region does not
    refused(pair, pair.add(1), IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  {
    AtomicPair pair;
    Send send = pair.swap(0, 1);
    send.rkey ^= 1;
    refused(pair, send, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  {
    AtomicPair pair;
    Send send = pair.swap(0, 1);
    send.remote_addr += sizeof pair.remote;
    refused(pair, send, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  for (const bool adds : {true, false}) {
    AtomicPair pair;
    void* gone = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    nic::Mr* mr = pair.net.b.reg(gone, 4096, kAtomicAccess);
    munmap(gone, 4096);
    Send send = adds ? pair.add(1) : pair.swap(0, 1);
    send.remote_addr = reinterpret_cast<std::uint64_t>(gone);
    send.rkey = mr->rkey();
    refused(pair, send, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
}

TEST_CASE("atomics that cannot start") {
  {
    AtomicPair pair;
    Send send = pair.add(1);
    send.sges[0].length = 7;
    CHECK(post_send(pair.net.a, pair.qa, send) == EINVAL);
    send = pair.add(1);
    send.flags |= IBV_SEND_INLINE;
    CHECK(post_send(pair.net.a, pair.qa, send) == EINVAL);
  }
  {
    AtomicPair pair;
    nic::Mr* read_only = pair.net.a.reg(pair.result, 8, 0);
    Send send = pair.add(1);
    send.sges[0].lkey = read_only->lkey();
    CHECK(pair.run(send).status == IBV_WC_LOC_PROT_ERR);
    CHECK(pair.remote[0] == 1);  // the peer has executed it: rules_test.cc
  }
  {
    Connection connection = with_atomics();
    connection.rd_atomic = 0;
    AtomicPair pair(connection);
    CHECK(pair.run(pair.add(1)).status == IBV_WC_LOC_QP_OP_ERR);
  }
}
