// Large messages whose packets refer to their payload, over a cable whose other end can read this end's memory.
#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kSize = (1 << 20) + 100;

struct Reading : VirtualNetwork {
  nic::Qp* qa = a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = b.create_qp(IBV_QPT_RC);
  std::vector<std::uint8_t> near = pattern(kSize, 1), far = std::vector<std::uint8_t>(kSize);
  nic::Mr* local = a.reg(near.data(), near.size());
  nic::Mr* remote = b.reg(far.data(), far.size());

  explicit Reading(const Connection& connection = {}) {
    a.cable.shares_memory = true;
    connect(qa, qb, connection);
  }

  // In two pieces that are not in the order of memory.
  Send request(ibv_wr_opcode opcode) const {
    auto* memory = const_cast<std::uint8_t*>(near.data());
    return {.opcode = opcode,
            .sges = {sge_of(memory + 5000, kSize - 5000, local), sge_of(memory, 5000, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey(),
            .imm = 77};
  }
  bool arrived() const {
    return std::equal(near.begin() + 5000, near.end(), far.begin()) &&
           std::equal(near.begin(), near.begin() + 5000, far.end() - 5000);
  }
};

}  // namespace

TEST_CASE("a large WRITE is a few packets that refer to it, and small ones have their payload") {
  Reading net;
  REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_RDMA_WRITE)) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK(net.a.cable.referring == 4);  // the last 100 bytes are a packet
  CHECK(net.a.nic->counters().retransmitted_pkts == 0);
  for (std::uint64_t i = 2; i < 10; ++i) {
    REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_RDMA_WRITE)) == 0);
  }
  net.run();
  CHECK(net.a.poll().size() == 8);
  CHECK(net.a.cable.referring == 36);
}

TEST_CASE("a large SEND and a WRITE with immediate data fill a scatter list and complete their receives") {
  Reading net;
  for (const ibv_wr_opcode opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    std::fill(net.far.begin(), net.far.end(), 0);
    REQUIRE(post_recv(net.b, net.qb, 9,
                      {sge_of(net.far.data(), 300'001, net.remote),
                       sge_of(net.far.data() + 300'001, kSize - 300'001, net.remote)}) == 0);
    REQUIRE(post_send(net.a, net.qa, net.request(opcode)) == 0);
    net.run();
    const ibv_wc wc = net.b.poll().at(0);
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.byte_len == kSize);
    CHECK(wc.imm_data == 77);
    CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    CHECK(net.arrived());
  }
  CHECK(net.a.cable.referring == 8);
}

TEST_CASE("what the peer cannot read is sent, which takes no retry and one receive request") {
  Reading net({.retry_cnt = 0});
  net.a.cable.readable = false;
  nic::Srq* srq = nullptr;
  bool shared = false;
  SUBCASE("of the queue pair") {}
  SUBCASE("of a shared queue") { shared = true; }
  if (shared) {
    ibv_srq_attr attr{.max_wr = 16, .max_sge = 4, .srq_limit = 0};
    REQUIRE(net.b.nic->srqs().create(net.b.pd, &attr, &net.b, &srq) == 0);
    net.qb = net.b.create_qp(IBV_QPT_RC, 64, srq);
    net.qa = net.a.create_qp(IBV_QPT_RC);
    net.connect(net.qa, net.qb, {.retry_cnt = 0});
  }
  for (std::uint64_t i = 1; i <= 2; ++i) {
    ibv_sge sge = sge_of(net.far.data(), kSize, net.remote);
    ibv_recv_wr wr{.wr_id = i, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    REQUIRE((shared ? net.b.nic->data_path().post_srq_recv(srq, &wr, &bad)
                    : net.b.nic->data_path().post_recv(net.qb, &wr, &bad)) == 0);
  }
  for (std::uint64_t i = 1; i <= 2; ++i) {
    std::fill(net.far.begin(), net.far.end(), 0);
    REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_SEND)) == 0);
    net.run();
    REQUIRE(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    const std::vector<ibv_wc> received = net.b.poll();
    REQUIRE(received.size() == 1);
    CHECK(received[0].wr_id == i);
    CHECK(received[0].status == IBV_WC_SUCCESS);
    CHECK(net.arrived());
  }
  CHECK(net.a.cable.referring == 4);  // of the first message: the second does not try
  net.a.cable.readable = true;        // after a while messages try again
  for (int i = 0; i < 70; ++i) {
    REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_RDMA_WRITE)) == 0);
    net.run();
    net.a.poll();
  }
  CHECK(net.a.cable.referring > 4);
  CHECK(net.arrived());
}

TEST_CASE("what the peer has mapped is copied from there, into and from several pieces") {
  Reading net;
  const std::vector<std::uint8_t> copy = net.near;
  int found = 0;
  net.a.cable.mapped = [&](const link::Reference& piece) {
    ++found;
    const std::uint64_t offset = piece.address - reinterpret_cast<std::uintptr_t>(net.near.data());
    REQUIRE(offset + piece.size <= copy.size());
    return copy.data() + offset;
  };
  net.a.cable.readable = false;
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_SEND}) {
    std::fill(net.far.begin(), net.far.end(), 0);
    REQUIRE(post_recv(net.b, net.qb, 9,
                      {sge_of(net.far.data(), 300'001, net.remote),
                       sge_of(net.far.data() + 300'001, kSize - 300'001, net.remote)}) == 0);
    REQUIRE(post_send(net.a, net.qa, net.request(opcode)) == 0);
    net.run();
    CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    CHECK(net.arrived());
  }
  CHECK(net.b.poll().size() == 1);
  CHECK(found > 8);
  CHECK(net.a.nic->counters().retransmitted_pkts == 0);
}

TEST_CASE("of what the peer has mapped in part, the rest is read") {
  Reading net;
  // The first 5000 bytes are not: a piece in the middle of the message.
  int found = 0;
  net.a.cable.mapped = [&](const link::Reference& piece) -> const std::uint8_t* {
    const std::uint64_t offset = piece.address - reinterpret_cast<std::uintptr_t>(net.near.data());
    if (offset < 5000) return nullptr;
    ++found;
    return net.near.data() + offset;
  };
  auto* memory = net.near.data();
  Send send = net.request(IBV_WR_RDMA_WRITE);
  send.sges = {sge_of(memory + 5000, 7000, net.local), sge_of(memory, 5000, net.local),
               sge_of(memory + 12'000, kSize - 12'000, net.local)};
  REQUIRE(post_send(net.a, net.qa, send) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(found >= 5);
  CHECK(std::equal(memory + 5000, memory + 12'000, net.far.begin()));
  CHECK(std::equal(memory, memory + 5000, net.far.begin() + 7000));
  CHECK(std::equal(memory + 12'000, memory + kSize, net.far.begin() + 12'000));
  CHECK(net.a.nic->counters().retransmitted_pkts == 0);

  // Where the rest cannot be read, all is sent.
  net.a.cable.readable = false;
  std::fill(net.far.begin(), net.far.end(), 0);
  REQUIRE(post_send(net.a, net.qa, send) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(std::equal(memory, memory + 5000, net.far.begin() + 7000));
  CHECK(net.a.nic->counters().retransmitted_pkts > 0);
}

TEST_CASE("a peer that was not ready gets packets that refer once more") {
  Reading net;
  REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_SEND)) == 0);
  REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_SEND)) == 0);
  net.run(5'000'000);
  CHECK(net.a.poll().empty());
  CHECK(net.b.nic->counters().send_rnr_err > 0);
  const int refused = net.a.cable.referring;
  const std::uint64_t bytes = net.a.nic->counters().sent_bytes;
  for (int i = 0; i < 2; ++i) REQUIRE(post_recv(net.b, net.qb, 1, {sge_of(net.far.data(), kSize, net.remote)}) == 0);
  net.run();
  CHECK(net.a.poll().size() == 2);
  CHECK(net.arrived());
  CHECK(net.a.cable.referring - refused == 8);
  // Of each message the last 100 bytes are a packet with its payload, and no other is.
  CHECK(net.a.nic->counters().sent_bytes - bytes < 10'000);
  CHECK(net.a.nic->counters().retransmitted_pkts < 50);
}

TEST_CASE("what the peer has mapped, and cannot be read there, is sent") {
  Reading net({.retry_cnt = 0});
  net.a.cable.mapped = [](const link::Reference& /*piece*/) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<const std::uint8_t*>(std::uintptr_t{4096});  // a fault
  };
  REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_RDMA_WRITE)) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK(net.a.nic->counters().retransmitted_pkts > 0);
}

TEST_CASE("the application gets memory back only when no peer uses what it reads there") {
  Reading net;
  net.a.cable.epoch = 0;
  REQUIRE(post_recv(net.b, net.qb, 1, {sge_of(net.far.data(), kSize, net.remote)}) == 0);
  REQUIRE(post_send(net.a, net.qa, net.request(IBV_WR_SEND)) == 0);
  net.a.nic->scheduler().pump(net.now);
  REQUIRE(net.a.cable.referring > 0);
  SUBCASE("an error") {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    REQUIRE(net.a.nic->qps().modify(net.qa, &attr, IBV_QP_STATE) == 0);
    CHECK(net.a.poll().at(0).status == IBV_WC_WR_FLUSH_ERR);
  }
  SUBCASE("a reset") {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RESET;
    REQUIRE(net.a.nic->qps().modify(net.qa, &attr, IBV_QP_STATE) == 0);
  }
  SUBCASE("a destruction") { REQUIRE(net.a.nic->qps().destroy(net.qa) == 0); }
  SUBCASE("a failed device") { net.a.nic->fail(); }
  CHECK(net.a.cable.epoch == 1);
  net.run();
  CHECK(net.b.poll().empty());  // the message is not there
}

TEST_CASE("a packet that refers is checked as one with a payload") {
  Reading net;
  ibv_wc_status expected = IBV_WC_SUCCESS;
  Send send = net.request(IBV_WR_RDMA_WRITE);
  SUBCASE("a key") { send.rkey ^= 1, expected = IBV_WC_REM_ACCESS_ERR; }
  SUBCASE("a range") { send.remote_addr += 1, expected = IBV_WC_REM_ACCESS_ERR; }
  SUBCASE("a receive that is too short") {
    REQUIRE(post_recv(net.b, net.qb, 1, {sge_of(net.far.data(), 300'000, net.remote)}) == 0);
    send.opcode = IBV_WR_SEND, expected = IBV_WC_REM_INV_REQ_ERR;
  }
  SUBCASE("a local key") { send.sges[0].lkey ^= 1, expected = IBV_WC_LOC_PROT_ERR; }
  REQUIRE(post_send(net.a, net.qa, send) == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == expected);
}

TEST_CASE("lists that no sender makes are dropped, or end the connection as wrong lengths do") {
  Reading net;
  struct Memory final : link::SenderMemory {
    bool read(std::span<const iovec> /*to*/, std::span<const link::Reference> /*from*/) override {
      return ++reads, true;
    }
    int reads = 0;
  } memory;
  const auto deliver = [&](wire::Operation operation, std::vector<link::Reference> list, std::size_t cut = 0) {
    std::uint8_t frame[wire::kMaxFrame] = {};
    wire::Path path;
    path.sgid = net.a.gid;
    path.dgid = net.b.gid;
    const std::uint8_t opcode = wire::make_opcode(wire::Transport::kRc, operation);
    const std::size_t header = wire::opcode_info(opcode)->header_size;
    const std::size_t bytes = list.size() * sizeof(link::Reference) - cut;
    const std::size_t transport = header + bytes + wire::kIcrcSize;
    const std::size_t network = wire::write_network(frame, path, transport);
    wire::Bth bth;
    bth.opcode = opcode;
    bth.dest_qpn = net.qb->number;
    bth.psn = 0xfffff0;
    bth.emit(frame + network);
    if (header > wire::Bth::kSize) {
      wire::Reth{reinterpret_cast<std::uint64_t>(net.far.data()), net.remote->rkey(), 64}.emit(frame + network +
                                                                                               wire::Bth::kSize);
    }
    if (bytes > 0) std::memcpy(frame + network + header, list.data(), bytes);
    net.b.nic->ingress().deliver_referring(1, {frame, network + transport}, 0, memory);
  };
  const auto dropped = [&] { return net.b.nic->counters().dropped_pkts; };
  deliver(wire::kWriteOnly, {});
  deliver(wire::kWriteOnly, {{0, 64}}, 4);
  deliver(wire::kWriteOnly, std::vector<link::Reference>(link::kMostReferences + 1, {0, 1}));
  deliver(wire::kWriteOnly, {{0, link::kMostReferred + 1}});
  deliver(wire::kWriteOnly, {{0, UINT64_MAX}, {0, 65}});
  deliver(wire::kReadRequest, {{0, 64}});
  deliver(wire::kAcknowledge, {{0, 64}});
  CHECK(dropped() == 7);
  CHECK(net.qb->state == IBV_QPS_RTS);
  deliver(wire::kWriteOnly, {{0, 32}, {4096, 32}});  // as the RETH says
  CHECK(memory.reads == 1);
  deliver(wire::kWriteOnly, {{0, 64}});  // a duplicate
  CHECK(memory.reads == 1);
  SUBCASE("another length than the RETH says") {
    net.qb->resp.expected_psn = 0xfffff0;
    deliver(wire::kWriteOnly, {{0, 65}});
  }
  SUBCASE("no whole packets") {
    net.qb->resp.expected_psn = 0xfffff0;
    deliver(wire::kSendFirst, {{0, 1025}});
  }
  SUBCASE("nothing") {
    net.qb->resp.expected_psn = 0xfffff0;
    deliver(wire::kSendOnly, {{0, 0}});
  }
  CHECK(memory.reads == 1);
  CHECK(net.qb->state == IBV_QPS_ERR);
}
