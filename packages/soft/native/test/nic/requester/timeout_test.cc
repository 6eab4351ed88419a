// A peer that gets no processor time: it has the packets, and acknowledges them when it runs again.
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("a first ACK timeout sends one packet again, and not the window") {
  constexpr std::uint64_t kMessages = 32;
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  std::vector<std::uint8_t> near = pattern(64), far(64);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote = net.b.reg(far.data(), far.size());
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    REQUIRE(post_recv(net.b, qb, i, {sge_of(far.data(), 64, remote)}) == 0);
    REQUIRE(post_send(net.a, qa, {.wr_id = i, .sges = {sge_of(near.data(), 64, local)}}) == 0);
  }
  nic::Scheduler& sender = net.a.nic->scheduler();
  const nic::Counters& counters = net.a.nic->counters();
  sender.pump(net.now);
  CHECK(counters.sent_pkts == kMessages);
  while (counters.ack_timeout == 0) {
    net.now = std::max(net.now, sender.next_deadline());
    sender.pump(net.now);
  }
  CHECK(counters.retransmitted_pkts == 1);
  net.run();
  CHECK(counters.retransmitted_pkts == 1);
  CHECK(net.b.nic->counters().duplicate_request == 1);
  const std::vector<ibv_wc> sent = net.a.poll();
  REQUIRE(sent.size() == kMessages);
  for (std::uint64_t i = 0; i < kMessages; ++i) CHECK((sent[i].wr_id == i && sent[i].status == IBV_WC_SUCCESS));
  CHECK(net.b.poll().size() == kMessages);
}
