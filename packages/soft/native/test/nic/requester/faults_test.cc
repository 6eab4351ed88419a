// Lossy cables: everything arrives once and in order, and a seed replays exactly.
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

struct Outcome {
  std::vector<std::string> trace;
  std::vector<std::uint64_t> completions;
  std::uint64_t retransmitted = 0;
};

// SENDs, WRITEs (some with immediate) and READs, mixed, in one direction, over faulty cables in both.
Outcome run_mix(std::uint64_t seed, const link::FaultPlan& faults, int messages) {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  link::FaultPlan plan = faults;
  plan.seed = seed;
  net.a.faults.set_plan(plan);
  plan.seed = seed + 1;
  net.b.faults.set_plan(plan);

  constexpr std::uint32_t kSlot = 20'000;
  const auto count = static_cast<std::size_t>(messages);
  auto near = pattern(count * kSlot, static_cast<unsigned>(seed));
  auto far = pattern(count * kSlot, static_cast<unsigned>(seed) + 7);
  const auto near_before = near;
  const auto far_before = far;
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote = net.b.reg(far.data(), far.size());
  const ibv_wr_opcode kinds[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM,
                                 IBV_WR_SEND_WITH_IMM};
  const auto size_of = [&](std::size_t i) { return static_cast<std::uint32_t>((i * 7919 + seed * 31) % kSlot); };

  Outcome outcome;
  std::size_t posted = 0;
  std::size_t done = 0;
  std::vector<std::uint32_t> expected_receives;
  std::size_t received = 0;
  while (done < count) {
    while (posted < count && posted - done < 32) {
      const std::size_t i = posted++;
      const ibv_wr_opcode kind = kinds[i % 5];
      std::uint8_t* there = far.data() + i * kSlot;
      if (kind == IBV_WR_SEND || kind == IBV_WR_SEND_WITH_IMM || kind == IBV_WR_RDMA_WRITE_WITH_IMM) {
        REQUIRE(post_recv(net.b, qb, i, {sge_of(there, kSlot, remote)}) == 0);
        expected_receives.push_back(static_cast<std::uint32_t>(i));
      }
      REQUIRE(post_send(net.a, qa,
                        {.wr_id = i,
                         .opcode = kind,
                         .sges = {sge_of(near.data() + i * kSlot, size_of(i), local)},
                         .remote_addr = reinterpret_cast<std::uint64_t>(there),
                         .rkey = remote->rkey(),
                         .imm = static_cast<std::uint32_t>(i)}) == 0);
    }
    net.run();
    for (const ibv_wc& wc : net.a.poll()) {
      REQUIRE(wc.status == IBV_WC_SUCCESS);
      REQUIRE(wc.wr_id == done);
      ++done;
      outcome.completions.push_back(wc.wr_id);
    }
    for (const ibv_wc& wc : net.b.poll()) {
      REQUIRE(wc.status == IBV_WC_SUCCESS);
      REQUIRE(wc.wr_id == expected_receives.at(received));
      ++received;
      REQUIRE(wc.byte_len == size_of(wc.wr_id));
    }
    REQUIRE(net.now < 1'000'000 * kMillisecond);
  }
  CHECK(received == expected_receives.size());
  for (std::size_t i = 0; i < count; ++i) {
    const bool read = kinds[i % 5] == IBV_WR_RDMA_READ;
    const auto& source = read ? far_before : near_before;
    const auto& target = read ? near : far;
    const auto at = static_cast<std::ptrdiff_t>(i * kSlot);
    REQUIRE(std::equal(source.begin() + at, source.begin() + at + size_of(i), target.begin() + at));
  }
  outcome.trace = net.trace;
  outcome.retransmitted = net.a.nic->counters().retransmitted_pkts;
  return outcome;
}

link::FaultPlan bad_weather() {
  link::FaultPlan plan;
  plan.drop = 0.10;
  plan.duplicate = 0.10;
  plan.reorder = 0.10;
  return plan;
}

}  // namespace

TEST_CASE("10 % loss, reordering and duplication: all data right, and the same packet trace twice") {
  const Outcome first = run_mix(42, bad_weather(), 100);
  const Outcome second = run_mix(42, bad_weather(), 100);
  CHECK(first.retransmitted > 0);
  CHECK(first.trace == second.trace);
  CHECK(first.trace != run_mix(43, bad_weather(), 100).trace);
}

TEST_CASE("every kind of fault, many seeds") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    link::FaultPlan plan;
    switch (seed % 5) {
      case 0:
        plan.drop = 0.05;
        break;
      case 1:
        plan.duplicate = 0.3;
        break;
      case 2:
        plan.reorder = 0.2;
        break;
      case 3:
        plan.corrupt = 0.05;
        break;
      default:
        plan = bad_weather();
        plan.jitter = 20 * kMicrosecond;
        break;
    }
    run_mix(seed, plan, 60);
  }
}

TEST_CASE("a lost acknowledgement is asked for again, and nothing is executed twice") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  REQUIRE(post_recv(net.b, qb, 1, {}) == 0);
  REQUIRE(post_recv(net.b, qb, 2, {}) == 0);
  net.b.cable.unplugged = true;
  REQUIRE(post_send(net.a, qa, {}) == 0);
  net.run(100 * kMicrosecond);
  CHECK(net.b.poll().size() == 1);
  net.b.cable.unplugged = false;
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.b.poll().empty());
  CHECK(net.b.nic->counters().duplicate_request == 1);
}

TEST_CASE("loss in both directions of a stream is repaired without waiting for the ACK timeout") {
  VirtualNetwork net(false, 1 << 16);
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  link::FaultPlan plan;
  plan.drop = 0.02;
  net.a.faults.set_plan(plan);
  plan.seed = 2;
  net.b.faults.set_plan(plan);
  constexpr std::uint32_t kSize = 1 << 20;
  auto near = pattern(kSize);
  std::vector<std::uint8_t> far(kSize);
  nic::Mr* local = net.a.reg(near.data(), kSize);
  nic::Mr* remote = net.b.reg(far.data(), kSize);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(post_send(net.a, qa,
                      {.opcode = IBV_WR_RDMA_WRITE,
                       .sges = {sge_of(near.data(), kSize, local)},
                       .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
                       .rkey = remote->rkey()}) == 0);
  }
  net.run();
  CHECK(net.a.poll().size() == 20);
  CHECK(near == far);
  const nic::Counters& counters = net.a.nic->counters();
  MESSAGE("retransmitted ", counters.retransmitted_pkts, " of ", counters.sent_pkts, ", NAKs ", counters.rcvd_seq_err,
          ", timeouts ", counters.ack_timeout);
  CHECK(counters.rcvd_seq_err > 300);
  CHECK(counters.ack_timeout * 100 < counters.rcvd_seq_err);
}

// The kernel's soft-RoCE moves its place in a saved READ to where a repeated request begins.
TEST_CASE("a READ whose response was cut is asked for again from its first missing packet") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  Connection connection;
  connection.timeout = 14;
  net.connect(qa, qb, connection);
  std::vector<std::uint8_t> near(8192), far = pattern(8192);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote = net.b.reg(far.data(), far.size());
  const auto run = [&](ibv_wr_opcode what, std::uint32_t size) {
    REQUIRE(post_send(net.a, qa,
                      {.opcode = what,
                       .sges = {sge_of(near.data(), size, local)},
                       .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
                       .rkey = remote->rkey()}) == 0);
    net.run();
    CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  };
  for (int i = 0; i < 20; ++i) run(IBV_WR_RDMA_WRITE, 64);  // the NIC measures the round trip
  near.assign(near.size(), 0);
  const std::vector<std::uint8_t> before = far;
  std::vector<std::uint32_t> asked;
  int responses = 0;
  net.b.cable.observe = [&](std::span<const std::uint8_t>) {
    net.b.cable.unplugged = ++responses > 3 && asked.size() < 2;
  };
  net.a.cable.observe = [&](std::span<const std::uint8_t> bytes) {
    const auto frame = wire::parse_frame(bytes);
    asked.push_back(wire::Bth::parse(frame->transport.data()).psn);
  };
  run(IBV_WR_RDMA_READ, 8192);
  CHECK(near == before);
  REQUIRE(asked.size() == 2);
  CHECK(asked[1] == ((asked[0] + 3) & 0xffffff));
  CHECK(net.a.nic->counters().ack_timeout == 0);
}

// rxe of Linux 6.12 answers a READ of no bytes once, and never again.
TEST_CASE("a READ of no bytes whose response is lost is complete with the next response") {
  for (const std::uint32_t next : {64u, 0u}) {
    CAPTURE(next);
    VirtualNetwork net;
    nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
    nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
    net.connect(qa, qb);
    std::vector<std::uint8_t> near(64), far = pattern(64);
    nic::Mr* local = net.a.reg(near.data(), near.size());
    nic::Mr* remote = net.b.reg(far.data(), far.size());
    int responses = 0;
    net.b.cable.observe = [&](std::span<const std::uint8_t>) { net.b.cable.unplugged = ++responses == 2; };
    for (const std::uint32_t size : {64u, 0u, next}) {
      REQUIRE(post_send(net.a, qa,
                        {.wr_id = size,
                         .opcode = IBV_WR_RDMA_READ,
                         .sges = {sge_of(near.data(), size, local)},
                         .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
                         .rkey = remote->rkey()}) == 0);
    }
    net.run();
    const auto completions = net.a.poll();
    REQUIRE(completions.size() == 3);
    for (const ibv_wc& wc : completions) CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(near == far);
    CHECK(responses == 3);
    CHECK(net.a.nic->counters().retransmitted_pkts == 0);
  }
}

TEST_CASE("a late response costs one packet, not a congestion window") {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    CAPTURE(opcode);
    VirtualNetwork net;
    nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
    nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
    Connection connection;
    connection.timeout = 14;
    net.connect(qa, qb, connection);
    std::vector<std::uint8_t> near = pattern(30'000);
    std::vector<std::uint8_t> far(30'000);
    nic::Mr* local = net.a.reg(near.data(), near.size());
    nic::Mr* remote = net.b.reg(far.data(), far.size());
    const auto run = [&](ibv_wr_opcode what, std::uint32_t size) {
      REQUIRE(post_send(net.a, qa,
                        {.opcode = what,
                         .sges = {sge_of(near.data(), size, local)},
                         .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
                         .rkey = remote->rkey()}) == 0);
      net.run();
      CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    };
    for (int i = 0; i < 20; ++i) run(IBV_WR_RDMA_WRITE, 64);  // the NIC measures the round trip
    REQUIRE(net.a.nic->counters().retransmitted_pkts == 0);
    link::FaultPlan slow;
    slow.delay = 3 * kMillisecond;
    net.b.faults.set_plan(slow);
    run(opcode, 30'000);
    CHECK(near == far);
    CHECK(net.a.nic->counters().retransmitted_pkts <= 2);
    CHECK(net.a.nic->counters().ack_timeout == 0);
    CHECK(net.a.nic->counters().completer_retry_err == 0);
  }
}
