// Every way in which a work request can fail, at both ends.
#include <sys/mman.h>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct ErrorPair {
  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
  std::vector<std::uint8_t> near = pattern(8192);
  std::vector<std::uint8_t> far = pattern(8192, 2);
  nic::Mr* local;
  nic::Mr* remote;
  explicit ErrorPair(const Connection& connection = {},
                     unsigned remote_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
      : qa(net.a.create_qp(IBV_QPT_RC)), qb(net.b.create_qp(IBV_QPT_RC)) {
    net.connect(qa, qb, connection);
    local = net.a.reg(near.data(), near.size());
    remote = net.b.reg(far.data(), far.size(), remote_access);
  }

  Send rdma(ibv_wr_opcode opcode, std::uint32_t size = 4096) {
    return {.opcode = opcode,
            .sges = {sge_of(near.data(), size, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  }

  // Posts, runs, and returns the only completion at the sender.
  ibv_wc fail(const Send& send) {
    REQUIRE(post_send(net.a, qa, send) == 0);
    net.run();
    const auto done = net.a.poll();
    REQUIRE(done.size() == 1);
    CHECK(qa->state == IBV_QPS_ERR);
    const nic::ReasonEvent* event = net.a.nic->reasons().find_last(
        [&](const nic::ReasonEvent& each) { return each.qp == qa->number && each.status == done[0].status; });
    REQUIRE(event != nullptr);  // whatever fails has a reason, and not just that of a strange answer
    CHECK((event->why.reason == nic::Reason::kBadResponse) == (done[0].status == IBV_WC_BAD_RESP_ERR));
    return done[0];
  }
};

}  // namespace

TEST_CASE("remote access errors: key, range, rights, region of another PD, region that is gone") {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    CAPTURE(opcode);
    {
      ErrorPair pair;
      Send send = pair.rdma(opcode);
      send.rkey ^= 1;
      CHECK(pair.fail(send).status == IBV_WC_REM_ACCESS_ERR);
      CHECK(pair.net.b.saw(IBV_EVENT_QP_ACCESS_ERR));
      CHECK(pair.qb->state == IBV_QPS_ERR);
    }
    {
      ErrorPair pair;
      Send send = pair.rdma(opcode);
      send.remote_addr += 8192 - 4095;
      CHECK(pair.fail(send).status == IBV_WC_REM_ACCESS_ERR);
    }
    {
      ErrorPair pair;
      Send send = pair.rdma(opcode);
      send.remote_addr = UINT64_MAX - 100;
      CHECK(pair.fail(send).status == IBV_WC_REM_ACCESS_ERR);
    }
    {
      ErrorPair pair({}, IBV_ACCESS_LOCAL_WRITE);
      CHECK(pair.fail(pair.rdma(opcode)).status == IBV_WC_REM_ACCESS_ERR);
    }
    {
      ErrorPair pair;
      nic::Pd* other = nullptr;
      nic::Mr* mr = nullptr;
      REQUIRE(pair.net.b.nic->pds().alloc(&other) == 0);
      REQUIRE(pair.net.b.nic->mrs().reg(other, pair.far.data(), 8192, reinterpret_cast<std::uint64_t>(pair.far.data()),
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
                                        &mr) == 0);
      Send send = pair.rdma(opcode);
      send.rkey = mr->rkey();
      CHECK(pair.fail(send).status == IBV_WC_REM_ACCESS_ERR);
      CHECK(pair.net.b.nic->pds().dealloc(other) == EBUSY);
    }
    {
      ErrorPair pair;
      const Send send = pair.rdma(opcode);
      REQUIRE(pair.net.b.nic->mrs().dereg(pair.remote) == 0);
      CHECK(pair.fail(send).status == IBV_WC_REM_ACCESS_ERR);
    }
  }
}

TEST_CASE("a QP without the access flag sends a NAK") {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    Connection connection;
    connection.access = 0;
    ErrorPair pair(connection);
    CHECK(pair.fail(pair.rdma(opcode)).status == IBV_WC_REM_INV_REQ_ERR);
    CHECK(pair.net.b.saw(IBV_EVENT_QP_REQ_ERR));
  }
}

TEST_CASE("a receive buffer that is too small fails at both ends") {
  ErrorPair pair;
  REQUIRE(post_recv(pair.net.b, pair.qb, 5, {sge_of(pair.far.data(), 1500, pair.remote)}) == 0);
  REQUIRE(post_recv(pair.net.b, pair.qb, 6, {sge_of(pair.far.data(), 1500, pair.remote)}) == 0);
  CHECK(pair.fail({.sges = {sge_of(pair.near.data(), 1501, pair.local)}}).status == IBV_WC_REM_INV_REQ_ERR);
  const auto received = pair.net.b.poll();
  REQUIRE(received.size() == 2);
  CHECK(received[0].status == IBV_WC_LOC_LEN_ERR);
  CHECK(received[0].wr_id == 5);
  CHECK(received[1].status == IBV_WC_WR_FLUSH_ERR);
}

TEST_CASE("a receive buffer without the right to write is the receiver's fault") {
  ErrorPair pair;
  nic::Mr* read_only = pair.net.b.reg(pair.far.data(), 8192, 0);
  REQUIRE(post_recv(pair.net.b, pair.qb, 5, {sge_of(pair.far.data(), 1500, read_only)}) == 0);
  CHECK(pair.fail({.sges = {sge_of(pair.near.data(), 100, pair.local)}}).status == IBV_WC_REM_OP_ERR);
  CHECK(pair.net.b.poll().at(0).status == IBV_WC_LOC_PROT_ERR);
}

TEST_CASE("a bad local key stops the request after the good ones before it, and flushes the rest") {
  ErrorPair pair;
  REQUIRE(post_recv(pair.net.b, pair.qb, 1, {sge_of(pair.far.data(), 8192, pair.remote)}) == 0);
  Send good{.wr_id = 1, .sges = {sge_of(pair.near.data(), 5000, pair.local)}};
  Send bad = good;
  bad.wr_id = 2;
  bad.sges[0].lkey ^= 1;
  Send late = good;
  late.wr_id = 3;
  late.flags = 0;  // flushed requests complete even when they did not ask for it
  for (const Send& send : {good, bad, late}) REQUIRE(post_send(pair.net.a, pair.qa, send) == 0);
  pair.net.run();
  const auto done = pair.net.a.poll();
  REQUIRE(done.size() == 3);
  CHECK(done[0].status == IBV_WC_SUCCESS);
  CHECK(done[1].status == IBV_WC_LOC_PROT_ERR);
  CHECK(done[1].wr_id == 2);
  CHECK(done[2].status == IBV_WC_WR_FLUSH_ERR);
  CHECK(done[2].wr_id == 3);
  // In the error state, a posted request is flushed at once.
  REQUIRE(post_send(pair.net.a, pair.qa, good) == 0);
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_WR_FLUSH_ERR);
}

TEST_CASE("a READ needs a local region that may be written, and a limit above zero") {
  {
    ErrorPair pair;
    nic::Mr* read_only = pair.net.a.reg(pair.near.data(), 8192, 0);
    Send send = pair.rdma(IBV_WR_RDMA_READ);
    send.sges[0].lkey = read_only->lkey();
    CHECK(pair.fail(send).status == IBV_WC_LOC_PROT_ERR);
  }
  {
    Connection connection;
    connection.rd_atomic = 0;
    ErrorPair pair(connection);
    CHECK(pair.fail(pair.rdma(IBV_WR_RDMA_READ)).status == IBV_WC_LOC_QP_OP_ERR);
  }
}

TEST_CASE("a message beyond the device's limit is a local length error") {
  ErrorPair pair;
  void* huge = mmap(nullptr, (1ull << 31) + 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(huge != MAP_FAILED);
  nic::Mr* mr = pair.net.a.reg(huge, (1ull << 31) + 4096, 0);
  CHECK(pair.fail({.sges = {sge_of(huge, (1u << 31) + 1, mr)}}).status == IBV_WC_LOC_LEN_ERR);
  munmap(huge, (1ull << 31) + 4096);
}

TEST_CASE("RNR: a late receive is in time, a missing one is not") {
  {
    ErrorPair pair;
    REQUIRE(post_send(pair.net.a, pair.qa, {.sges = {sge_of(pair.near.data(), 3000, pair.local)}}) == 0);
    pair.net.run(200 * kMicrosecond);
    CHECK(pair.net.a.poll().empty());
    REQUIRE(post_recv(pair.net.b, pair.qb, 1, {sge_of(pair.far.data(), 8192, pair.remote)}) == 0);
    pair.net.run();
    CHECK(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
    CHECK(std::equal(pair.near.begin(), pair.near.begin() + 3000, pair.far.begin()));
    CHECK(pair.net.a.nic->counters().out_of_seq_request == 0);
  }
  {
    Connection connection;
    connection.rnr_retry = 3;
    connection.min_rnr_timer = 12;  // 640 us
    ErrorPair pair(connection);
    CHECK(pair.fail({.sges = {sge_of(pair.near.data(), 100, pair.local)}}).status == IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK(pair.net.a.nic->counters().rcvd_rnr_err == 4);
    CHECK(pair.net.now >= 3 * 640 * kMicrosecond);
    CHECK(pair.net.now < 4 * 640 * kMicrosecond);
  }
}

TEST_CASE("a receiver that is not ready has all the time that it asked for, and one retry for it") {
  constexpr Nanos kAsked = 10'240 * kMicrosecond;
  Connection connection;
  connection.rnr_retry = 1;
  connection.min_rnr_timer = 20;
  connection.timeout = 14;
  ErrorPair pair(connection);
  const ibv_sge from = sge_of(pair.near.data(), 64, pair.local), to = sge_of(pair.far.data(), 64, pair.remote);
  const auto send = [&] { REQUIRE(post_send(pair.net.a, pair.qa, {.sges = {from}}) == 0); };
  REQUIRE(post_recv(pair.net.b, pair.qb, 1, {to}) == 0);
  send();  // the NIC measures the round trip
  pair.net.run();
  REQUIRE(pair.net.a.poll().size() == 1);
  link::FaultPlan plan;
  std::size_t count = 1;
  SUBCASE("a report of loss comes behind its answer") {
    plan.nth = 3;
    plan.reorder = 1;
    plan.reorder_delay = 500 * kMicrosecond;
    pair.net.a.faults.set_plan(plan);
    count = 4;
  }
  SUBCASE("its answers are late, and more than one") {
    plan.delay = 3 * kMillisecond;
    pair.net.b.faults.set_plan(plan);
  }
  const Nanos begin = pair.net.now;
  for (std::size_t i = 0; i < count; ++i) send();
  pair.net.run(begin + 8 * kMillisecond);
  CHECK(pair.net.a.poll().empty());
  for (std::size_t i = 0; i < count; ++i) REQUIRE(post_recv(pair.net.b, pair.qb, 1, {to}) == 0);
  pair.net.run();
  const std::vector<ibv_wc> done = pair.net.a.poll();
  REQUIRE(done.size() == count);
  for (const ibv_wc& wc : done) CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(pair.net.now - begin > kAsked);
}

TEST_CASE("a silent peer is given up after retry_cnt repetitions, within (retry_cnt + 1) timeouts") {
  for (const std::uint8_t retries : {0, 1, 7}) {
    Connection connection;
    connection.retry_cnt = retries;
    ErrorPair pair(connection);
    pair.net.b.cable.unplugged = true;
    CHECK(pair.fail(pair.rdma(IBV_WR_RDMA_WRITE, 100)).status == IBV_WC_RETRY_EXC_ERR);
    CHECK(pair.net.trace.size() >= retries + 1u);
    const Nanos timeout = Nanos{4096} << connection.timeout;
    CHECK(pair.net.now <= (retries + 1) * timeout);
    CHECK(pair.net.now >= retries * timeout);
    CHECK(pair.net.a.nic->counters().retransmitted_pkts == retries);
  }
}

TEST_CASE("memory that was unmapped under a region is an error, not a crash") {
  const std::size_t size = 8192;
  const auto map = [&] { return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    for (const bool at_source : {true, false}) {
      CAPTURE(opcode);
      CAPTURE(at_source);
      ErrorPair pair;
      void* memory = map();
      Send send = pair.rdma(opcode);
      Station& station = at_source ? pair.net.a : pair.net.b;
      nic::Mr* mr = station.reg(memory, size);
      if (at_source) {
        send.sges = {sge_of(memory, 4096, mr)};
      } else {
        send.remote_addr = reinterpret_cast<std::uint64_t>(memory);
        send.rkey = mr->rkey();
      }
      munmap(memory, size);
      CHECK(pair.fail(send).status == (at_source ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR));
    }
  }
  ErrorPair pair;
  void* memory = map();
  munmap(memory, size);
  CHECK(nic::check_region(memory, size, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  void* constant = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(nic::check_region(constant, size, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  CHECK(nic::check_region(constant, size, 0) == 0);
  CHECK(nic::check_region(constant, size, IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  CHECK(nic::check_region(constant, 0, 0) == EINVAL);
  munmap(constant, size);
}

TEST_CASE("a request that cannot be posted is rejected at once") {
  ErrorPair pair;
  const Send send{.sges = {sge_of(pair.near.data(), 64, pair.local)}};
  CHECK(post_send(pair.net.a, pair.qa, {.opcode = IBV_WR_TSO}) == EINVAL);
  CHECK(post_send(pair.net.a, pair.qa, {.opcode = IBV_WR_DRIVER1}) == EINVAL);
  CHECK(post_send(pair.net.a, pair.qa, {.opcode = static_cast<ibv_wr_opcode>(-1)}) == EINVAL);
  CHECK(post_send(pair.net.a, pair.qa, {.opcode = static_cast<ibv_wr_opcode>(1000)}) == EINVAL);
  CHECK(post_send(pair.net.a, pair.qa, {.sges = std::vector<ibv_sge>(5)}) == EINVAL);
  Send inline_send = send;
  inline_send.flags |= IBV_SEND_INLINE;
  inline_send.sges[0].length = 129;
  CHECK(post_send(pair.net.a, pair.qa, inline_send) == EINVAL);
  for (int i = 0; i < 64; ++i) CHECK(post_send(pair.net.a, pair.qa, send) == 0);
  CHECK(post_send(pair.net.a, pair.qa, send) == ENOMEM);
  for (int i = 0; i < 64; ++i) CHECK(post_recv(pair.net.b, pair.qb, 1, {}) == 0);
  CHECK(post_recv(pair.net.b, pair.qb, 1, {}) == ENOMEM);
  nic::Qp* fresh = pair.net.a.create_qp(IBV_QPT_RC);
  CHECK(post_send(pair.net.a, fresh, send) == EINVAL);
  CHECK(post_recv(pair.net.a, fresh, 1, {}) == EINVAL);
}

TEST_CASE("a full CQ loses the entry, reports it once, and stops the receiver") {
  VirtualNetwork net(false, 2);
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(post_recv(net.b, qb, 1, {}) == 0);
    REQUIRE(post_send(net.a, qa, {.flags = 0}) == 0);
  }
  net.run();
  CHECK(net.b.saw(IBV_EVENT_CQ_ERR));
  CHECK(net.b.saw(IBV_EVENT_QP_FATAL));
  CHECK(net.b.poll().size() == 2);
}
