// Another program on the machine binds the loopback address of a peer, at another port, and sends packets of its
// connection.
#include "test/abi/support/impostor.h"

#include "test/abi/support/device_pair.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

TEST_CASE("who binds a peer's address at another port cannot disturb its connection, unless it is foreign") {
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    const std::string one = local_address(31), two = local_address(32);
    const std::string name = foreign ? "open" : "shut";
    configure(name + "0,link=udp,addr=" + one + (foreign ? ",foreign=" + two : "") + ";" + name +
              "1,link=udp,addr=" + two);
    End a(name + "0"), b(name + "1");
    a.connect(b);
    b.connect(a);
    const Impostor impostor(two, one);
    // The middle of a message that did not begin: an invalid request, which ends the connection.
    impostor.send(a.qp->qp_num, wire::kSendMiddle, 0);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const auto seen = [&] {
      ibv_wc wc;
      ibv_poll_cq(a.cq, 1, &wc);
      const std::uint64_t dropped = counter((name + "0").c_str(), "link_udp_wrong_source_port");
      return foreign ? counter((name + "0").c_str(), "rcvd_pkts") > 0 : dropped == 1;
    };
    while (!seen() && std::chrono::steady_clock::now() < give_up) usleep(100);
    CHECK(seen());
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
    REQUIRE(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init) == 0);
    CHECK(attr.qp_state == (foreign ? IBV_QPS_ERR : IBV_QPS_RTS));
    CHECK(counter((name + "0").c_str(), "drop_source_port") == (foreign ? 0 : 1));
    if (foreign) continue;
    REQUIRE(b.post_recv(0, 64) == 0);
    REQUIRE(a.send(0, 64) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
  }
}
