// Frames that no honest peer sends: nothing crashes, nothing is written outside a region, other QPs go on.
#include <algorithm>
#include <iterator>
#include <random>

#include "nic/base/guarded_memory.h"
#include "test/nic/virtual_network.h"
#include "wire/icrc.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("random and damaged frames do no harm") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  nic::Qp* ud = net.b.create_qp(IBV_QPT_UD);
  VirtualNetwork::to_rts_ud(net.b, ud, 1);
  Connection connection;
  connection.access |= IBV_ACCESS_REMOTE_ATOMIC | nic::kAccessFlushGlobal | nic::kAccessFlushPersistent;
  net.connect(qa, qb, connection);
  nic::Qp* uc = net.b.create_qp(IBV_QPT_UC);
  VirtualNetwork::to_rts(net.b, uc, 0x99, net.a.gid, connection, 0x123, 0xfffff0);
  std::vector<std::uint8_t> memory(4096 * 3, 0x55);
  nic::Mr* mr =
      net.b.reg(memory.data() + 4096, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | connection.access);
  REQUIRE(post_recv(net.b, ud, 1, {sge_of(memory.data() + 4096, 4096, mr)}) == 0);

  std::uint64_t state = 99;
  const auto random = [&state] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state >> 33);
  };
  for (int i = 0; i < 200'000; ++i) {
    std::uint8_t frame[wire::kMaxFrame];
    const std::size_t transport = 16 + random() % 200;
    wire::Path path;
    path.sgid = net.a.gid;
    path.dgid = net.b.gid;
    const std::size_t network = wire::write_network(frame, path, transport);
    for (std::size_t at = network; at < network + transport; ++at) frame[at] = static_cast<std::uint8_t>(random());
    wire::Bth bth = wire::Bth::parse(frame + network);
    const struct {
      nic::Qp* qp;
      wire::Transport transport;
    } targets[] = {{qb, wire::Transport::kRc}, {uc, wire::Transport::kUc}, {ud, wire::Transport::kUd}};
    const auto& target = targets[random() % 3];
    const auto& other = random() % 8 == 0 ? targets[random() % 3] : target;  // sometimes for another QP
    bth.opcode = wire::make_opcode(other.transport, static_cast<wire::Operation>(random() % 0x20));
    bth.version = 0;
    bth.pkey = 0xffff;
    bth.dest_qpn = target.qp->number;
    bth.psn = (0xfffff0 + random() % 4) & 0xffffff;
    bth.emit(frame + network);
    const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
    if (info != nullptr && info->has(wire::kHasReth) && transport > 32 && random() % 2 == 0) {
      wire::Reth{reinterpret_cast<std::uint64_t>(memory.data()) + random() % 12288, mr->rkey(), random() % 5000}.emit(
          frame + network + info->reth);
    }
    if (info != nullptr && info->has(wire::kHasAtomicEth) && transport > 44 && random() % 2 == 0) {
      wire::AtomicEth{reinterpret_cast<std::uint64_t>(memory.data()) + random() % 12288, mr->rkey(), random(), 0}.emit(
          frame + network + info->atomic_eth);
    }
    wire::seal_icrc({frame, network + transport});
    net.b.nic->ingress().deliver(1, {frame, network + transport}, 0);
    net.b.nic->scheduler().pump(0);
    net.b.poll();
    REQUIRE(uc->state == IBV_QPS_RTS);
    if (qb->state == IBV_QPS_ERR) {
      ibv_qp_attr attr = {};
      attr.qp_state = IBV_QPS_RESET;
      REQUIRE(net.b.nic->qps().modify(qb, &attr, IBV_QP_STATE) == 0);
      VirtualNetwork::to_rts(net.b, qb, qa->number, net.a.gid, connection, 0x123, 0xfffff0);
    }
    net.trace.clear();
    net.b.events.clear();
  }
  CHECK(std::count(memory.begin(), memory.begin() + 4096, 0x55) == 4096);
  CHECK(std::count(memory.begin() + 8192, memory.end(), 0x55) == 4096);
}

TEST_CASE("random messages do no harm") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  nic::Qp* ud = net.b.create_qp(IBV_QPT_UD);
  VirtualNetwork::to_rts_ud(net.b, ud, 1);
  net.connect(qa, qb);
  std::vector<std::uint8_t> memory(4096 * 3, 0x55), bytes(wire::kMaxFrame, 0x66);
  nic::Mr* mr = net.b.reg(memory.data() + 4096, 4096);
  std::mt19937 random(7);
  int executed = 0;
  for (int i = 0; i < 200'000; ++i) {
    if (i % 4 == 0) (void)post_recv(net.b, qb, 1, {sge_of(memory.data() + 4096, 1 + random() % 4096, mr)});
    link::Message message;
    for (std::size_t at = 0; at < sizeof message; ++at) {
      reinterpret_cast<std::uint8_t*>(&message)[at] = static_cast<std::uint8_t>(random());
    }
    constexpr wire::Operation kOperations[] = {wire::kSendOnly, wire::kSendOnlyImm, wire::kWriteOnly,
                                               wire::kWriteOnlyImm, wire::kAcknowledge};
    if (random() % 8 != 0) message.opcode = kOperations[random() % std::size(kOperations)];
    if (random() % 8 != 0) message.dest_qpn = (random() % 8 == 0 ? ud : qb)->number;
    if (random() % 4 != 0) message.psn = qb->resp.expected_psn + (random() % 16 == 0 ? random() % 3 - 1 : 0);
    if (random() % 4 != 0) message.address = reinterpret_cast<std::uintptr_t>(memory.data()) + random() % 12288;
    if (random() % 4 != 0) message.rkey = mr->rkey();
    const std::size_t size = random() % 32 == 0 ? random() % 4400 : random() % 100;
    const link::MessageEnds ends{random() % 64 == 0 ? net.b.gid : net.a.gid,
                                 random() % 64 == 0 ? net.a.gid : net.b.gid};
    const std::uint32_t msn = qb->resp.msn;
    net.b.nic->ingress().deliver_message(1, message, std::span(bytes).first(size), ends, 0);
    executed += qb->resp.msn != msn;
    net.b.nic->scheduler().pump(0);
    net.b.poll();
    if (qb->state == IBV_QPS_ERR) {
      ibv_qp_attr attr = {};
      attr.qp_state = IBV_QPS_RESET;
      REQUIRE(net.b.nic->qps().modify(qb, &attr, IBV_QP_STATE) == 0);
      VirtualNetwork::to_rts(net.b, qb, qa->number, net.a.gid, {}, 0x123, 0xfffff0);
    }
    net.trace.clear();
    net.b.events.clear();
  }
  CHECK(executed > 1000);
  CHECK(std::count(memory.begin(), memory.begin() + 4096, 0x55) == 4096);
  CHECK(std::count(memory.begin() + 8192, memory.end(), 0x55) == 4096);
}

TEST_CASE("a read response of the wrong length is a bad response, not a short read") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  std::vector<std::uint8_t> memory(64, 0x55);
  nic::Mr* local = net.a.reg(memory.data(), memory.size());
  REQUIRE(post_send(net.a, qa, {.opcode = IBV_WR_RDMA_READ, .sges = {sge_of(memory.data(), 32, local)}}) == 0);
  net.a.nic->scheduler().pump(0);

  std::uint8_t frame[wire::kMaxFrame] = {};
  wire::Path path;
  path.sgid = net.b.gid;
  path.dgid = net.a.gid;
  constexpr std::size_t kTransport = wire::Bth::kSize + wire::Aeth::kSize + 16 + wire::kIcrcSize;
  const std::size_t network = wire::write_network(frame, path, kTransport);
  wire::Bth bth;
  bth.opcode = wire::make_opcode(wire::Transport::kRc, wire::kReadResponseOnly);
  bth.dest_qpn = qa->number;
  bth.psn = 0xfffff0;
  bth.emit(frame + network);
  wire::Aeth{wire::kAckUnlimitedCredits, 1}.emit(frame + network + wire::Bth::kSize);
  wire::seal_icrc({frame, network + kTransport});
  net.a.nic->ingress().deliver(1, {frame, network + kTransport}, 0);
  CHECK(net.a.poll().at(0).status == IBV_WC_BAD_RESP_ERR);
  CHECK(std::count(memory.begin(), memory.end(), 0x55) == 64);
}

TEST_CASE("an ICRC counts only in frames whose link does not promise to keep them whole, and everything else in all") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  std::vector<std::uint8_t> memory(64, 0x55);
  nic::Mr* mr = net.b.reg(memory.data(), memory.size());
  REQUIRE(post_recv(net.b, qb, 1, {sge_of(memory.data(), 64, mr)}) == 0);

  std::uint8_t frame[wire::kMaxFrame] = {};
  wire::Path path;
  path.sgid = net.a.gid;
  path.dgid = net.b.gid;
  constexpr std::size_t kTransport = wire::Bth::kSize + 16 + wire::kIcrcSize;
  const std::size_t network = wire::write_network(frame, path, kTransport);
  wire::Bth bth;
  bth.opcode = wire::make_opcode(wire::Transport::kRc, wire::kSendOnly);
  bth.dest_qpn = qb->number;
  bth.psn = 0xfffff0;
  bth.emit(frame + network);
  const auto deliver = [&](link::FrameForm form) {
    net.b.nic->ingress().deliver(1, {frame, network + kTransport}, 0, form);
  };
  deliver(link::FrameForm::kSealed);
  CHECK(net.b.nic->counters().icrc_err == 1);
  CHECK(net.b.poll().empty());
  frame[15] ^= 1;  // another source address
  deliver(link::FrameForm::kUnsealed);
  CHECK(net.b.nic->counters().dropped_pkts == 1);
  CHECK(net.b.poll().empty());
  frame[15] ^= 1;
  deliver(link::FrameForm::kUnsealed);
  CHECK(net.b.poll().at(0).status == IBV_WC_SUCCESS);
}
