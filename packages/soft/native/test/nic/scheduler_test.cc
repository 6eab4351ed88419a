// Queue pairs that wait for room at their peer.
#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("a queue pair goes on whenever its peer makes room") {
  int calls = 0;  // of relieve(), before there is room: also during the look that finds none
  SUBCASE("one") { calls = 1; }
  SUBCASE("two") { calls = 2; }
  SUBCASE("three") { calls = 3; }
  SUBCASE("four") { calls = 4; }
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_UC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_UC);
  net.connect(qa, qb);
  std::vector<std::uint8_t> bytes = pattern(64);
  nic::Mr* local = net.a.reg(bytes.data(), bytes.size());
  net.a.cable.full_for = calls;
  REQUIRE(post_send(net.a, qa, {.wr_id = 7, .sges = {sge_of(bytes.data(), 64, local)}}) == 0);
  nic::Scheduler& sender = net.a.nic->scheduler();
  int pumps = 0;
  for (int looks = 0; looks < 10; ++looks) {
    if (!sender.has_output()) continue;
    sender.pump(net.now);
    ++pumps;
  }
  CHECK(net.a.poll().size() == 1);
  CHECK(pumps <= 2);  // and not at each look
}

TEST_CASE("a long READ of the peer does not hold up the queue pair's own requests, also where answers go first") {
  constexpr std::uint32_t kSize = 1 << 20;
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  const Connection connection{.mtu = IBV_MTU_256};
  net.connect(qa, qb, connection);
  std::vector<std::uint8_t> near(kSize), far = pattern(kSize);
  nic::Mr* local = net.a.reg(near.data(), kSize);
  nic::Mr* remote = net.b.reg(far.data(), kSize);
  // All of it by one request, as the kernel's soft-RoCE and adapters read.
  wire::Path path;
  path.sgid = net.a.gid;
  path.dgid = net.b.gid;
  std::vector<std::uint8_t> frame(wire::network_size(path) + wire::Bth::kSize + wire::Reth::kSize + wire::kIcrcSize);
  std::uint8_t* transport = &frame[wire::write_network(frame.data(), path, frame.size() - wire::network_size(path))];
  wire::Bth bth;
  bth.opcode = wire::make_opcode(wire::Transport::kRc, wire::kReadRequest);
  bth.dest_qpn = qb->number;
  bth.psn = connection.psn_a;
  bth.emit(transport);
  wire::Reth{reinterpret_cast<std::uint64_t>(far.data()), remote->rkey(), kSize}.emit(transport + wire::Bth::kSize);
  net.b.nic->ingress().deliver(1, frame, net.now, link::FrameForm::kUnsealed);

  REQUIRE(post_recv(net.a, qa, 1, {sge_of(near.data(), 64, local)}) == 0);
  REQUIRE(post_send(net.b, qb, {.sges = {sge_of(far.data(), 64, remote)}}) == 0);
  net.b.cq->arm(false);
  net.trace.clear();
  net.b.nic->scheduler().pump(net.now);
  CHECK(std::ranges::any_of(net.trace, [](const std::string& line) { return line.find("SEND") != std::string::npos; }));
  CHECK(net.trace[0].find("READ response First") != std::string::npos);
  while (!net.b.nic->scheduler().pump(net.now)) {
  }
  CHECK(net.trace.size() == kSize / 256 + 1);
}
