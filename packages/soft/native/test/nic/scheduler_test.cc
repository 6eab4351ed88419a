// Queue pairs that wait for room at their peer.
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
