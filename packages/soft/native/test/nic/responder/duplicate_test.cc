// The acknowledgement of a message that came again never covers a READ or an atomic behind it.
#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kFirst = 0xfffffe;  // the request behind a message is behind the wrap

// A message, a request with a response of its own and another message, all of which `b` executed, while nothing that it
// answered arrived.
struct LostResponses {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  alignas(8) std::uint8_t near[4096] = {};
  alignas(8) std::uint8_t far[4096] = {};
  nic::Mr* local = net.a.reg(near, sizeof near);
  nic::Mr* remote =
      net.b.reg(far, sizeof far,
                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  std::vector<std::uint8_t> message;  // the frame of the first message

  explicit LostResponses(ibv_wr_opcode between) {
    net.connect(qa, qb,
                {.timeout = 15,
                 .access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
                 .psn_a = kFirst});
    const auto record = net.a.cable.observe;
    net.a.cable.observe = [this, record](std::span<const std::uint8_t> frame) {
      record(frame);
      if (message.empty()) message.assign(frame.begin(), frame.end());
    };
    net.b.cable.unplugged = true;
    post(IBV_WR_RDMA_WRITE, 8);
    post(IBV_WR_RDMA_WRITE, 8);
    post(between, between == IBV_WR_RDMA_READ ? 2048 : 8);
    post(IBV_WR_RDMA_WRITE, 8);
    net.run(100 * kMicrosecond);
    net.b.cable.unplugged = false;
    net.trace.clear();
  }

  void post(ibv_wr_opcode opcode, std::uint32_t length) {
    REQUIRE(post_send(net.a, qa,
                      {.opcode = opcode,
                       .sges = {sge_of(near, length, local)},
                       .remote_addr = reinterpret_cast<std::uint64_t>(far),
                       .rkey = remote->rkey()}) == 0);
  }

  // What `b` answers to the first message when it comes again.
  std::string answer_again() {
    net.b.nic->ingress().deliver(1, message, net.now);
    net.b.nic->scheduler().pump(net.now);
    REQUIRE(net.trace.size() == 1);
    return net.trace[0].substr(net.trace[0].find(" b "));
  }
};

}  // namespace

TEST_CASE("a message that comes again is acknowledged up to the READ or atomic behind it") {
  for (const ibv_wr_opcode between : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP}) {
    CAPTURE(between);
    LostResponses lost(between);
    CHECK(lost.answer_again().find("psn ffffff ") != std::string::npos);
    lost.net.run();
    const auto done = lost.net.a.poll();
    REQUIRE(done.size() == 4);
    CHECK(std::all_of(done.begin(), done.end(), [](const ibv_wc& wc) { return wc.status == IBV_WC_SUCCESS; }));
  }
}

TEST_CASE("a message that comes again with only messages behind it acknowledges them all") {
  LostResponses lost(IBV_WR_RDMA_WRITE);
  CHECK(lost.answer_again().find("psn 000001 ") != std::string::npos);
}

TEST_CASE("a request that the network doubles takes no response to a later one away, and no retry") {
  constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_WRITE};
  for (const ibv_wr_opcode doubled : kOpcodes) {
    for (const ibv_wr_opcode later : kOpcodes) {
      CAPTURE(doubled);
      CAPTURE(later);
      VirtualNetwork net;
      nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
      nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
      net.connect(qa, qb,
                  {.timeout = 15,
                   .retry_cnt = 0,
                   .access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
                   .psn_a = kFirst});
      alignas(8) std::uint8_t near[64] = {}, far[64] = {};
      nic::Mr* local = net.a.reg(near, sizeof near);
      nic::Mr* remote = net.b.reg(
          far, sizeof far,
          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
      const auto post = [&](ibv_wr_opcode opcode) {
        REQUIRE(post_send(net.a, qa,
                          {.opcode = opcode,
                           .sges = {sge_of(near, 8, local)},
                           .remote_addr = reinterpret_cast<std::uint64_t>(far),
                           .rkey = remote->rkey()}) == 0);
        net.a.nic->scheduler().pump(net.now);
      };
      std::vector<std::uint8_t> request;
      net.a.cable.observe = [&](std::span<const std::uint8_t> frame) {
        if (request.empty()) request.assign(frame.begin(), frame.end());
      };
      post(doubled);
      net.run(net.now + 5 * kMicrosecond);
      REQUIRE(net.a.poll().size() == 1);
      // All three come at once: a request, the first one again, and one more.
      post(later);
      net.now += kMicrosecond;
      net.b.faults.receive(net.b, 1);
      net.b.nic->ingress().deliver(1, request, net.now);
      post(later);
      net.run();
      const auto done = net.a.poll();
      REQUIRE(done.size() == 2);
      for (const ibv_wc& wc : done) CHECK(wc.status == IBV_WC_SUCCESS);
      CHECK(net.a.nic->counters().retransmitted_pkts == 0);
    }
  }
}
