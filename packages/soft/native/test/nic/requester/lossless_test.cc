// On a path that loses nothing, nothing waits for a timeout: queue pairs without one do all their work.
#include <random>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kBytes = 1 << 20;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool one_in(std::uint32_t count) { return below(count) == 0; }

 private:
  std::mt19937 engine_;
};

struct End {
  Station& station;
  nic::Qp* qp;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kBytes);
  nic::Mr* region =
      station.reg(bytes.data(), kBytes,
                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  nic::Mw* window = nullptr;
  int missing = 0;  // receive requests for what the peer has posted

  End(Station& of, std::uint32_t depth) : station(of), qp(of.create_qp(IBV_QPT_RC, depth)) {
    REQUIRE(of.nic->mws().alloc(of.pd, IBV_MW_TYPE_2, &window) == 0);
  }
  int change(ibv_qp_state to) {
    ibv_qp_attr attr{};
    attr.qp_state = to;
    return station.nic->qps().modify(qp, &attr, IBV_QP_STATE);
  }
  bool receive() {
    if (post_recv(station, qp, 1, {sge_of(bytes.data(), kBytes / 2, region)}) != 0) return false;
    --missing;
    return true;
  }
};

struct Work {
  Random random;
  bool joined = random.one_in(3);
  VirtualNetwork net{false, 65536, random.one_in(3) ? nic::Rules::rxe() : nic::Rules{}, joined};
  std::uint32_t depth = 4u << random.below(5);
  End a{net.a, depth}, b{net.b, depth};

  explicit Work(unsigned seed) : random(seed) {
    constexpr ibv_mtu kMtus[] = {IBV_MTU_256, IBV_MTU_1024, IBV_MTU_4096};
    Connection connection{.mtu = kMtus[random.below(3)], .timeout = 0};
    connection.retry_cnt = random.one_in(2) ? 0 : 7;
    connection.rd_atomic = static_cast<std::uint8_t>(1 + random.below(4));
    connection.access |= IBV_ACCESS_REMOTE_ATOMIC;
    net.a.cable.observe = net.b.cable.observe = nullptr;
    if (joined && random.one_in(2)) net.carry();
    net.connect(a.qp, b.qp, connection);
    net.a.cable.shares_memory = random.one_in(2);
    net.b.cable.shares_memory = random.one_in(2);
  }

  int send(End& from, End& to) {
    constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND,       IBV_WR_SEND_WITH_IMM,        IBV_WR_RDMA_WRITE,
                                          IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_RDMA_READ,
                                          IBV_WR_LOCAL_INV,  IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_WRITE,
                                          IBV_WR_LOCAL_INV};
    Send send{.opcode = kOpcodes[random.below(std::size(kOpcodes))], .flags = 0};
    if (random.one_in(3)) send.flags |= IBV_SEND_SIGNALED;
    if (random.one_in(6)) send.flags |= IBV_SEND_FENCE;
    const auto place = [&](const End& end) {
      return const_cast<std::uint8_t*>(&end.bytes[8 * random.below(kBytes / 16)]);
    };
    send.remote_addr = reinterpret_cast<std::uintptr_t>(place(to));
    send.rkey = to.region->rkey();
    const bool word = send.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || send.opcode == IBV_WR_ATOMIC_WRITE;
    const std::uint32_t length = random.below(random.one_in(3) ? 3000 : random.one_in(10) ? 400'000 : 40'000);
    send.sges = {sge_of(place(from), word ? 8 : length, from.region)};
    if (send.opcode == IBV_WR_LOCAL_INV) send.imm = from.window->rkey(), send.sges = {};
    const int error = post_send(from.station, from.qp, send);
    const bool takes =
        send.opcode == IBV_WR_SEND || send.opcode == IBV_WR_SEND_WITH_IMM || send.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    if (error == 0 && takes) ++to.missing;
    return error;
  }

  void step() {
    End& end = random.one_in(2) ? a : b;
    const std::uint32_t kind = random.below(100);
    if (kind < 60) {
      for (std::uint32_t count = 1 + random.below(4); count > 0; --count) {
        if (send(end, &end == &a ? b : a) != 0) break;  // the queue is full
      }
    } else if (kind < 80) {
      end.receive();
    } else if (kind < 84) {
      (void)end.change(end.qp->state == IBV_QPS_SQD ? IBV_QPS_RTS : IBV_QPS_SQD);  // not while it drains
    } else if (kind < 88) {
      end.station.cable.has_room = !end.station.cable.has_room;
    } else if (kind < 90) {
      end.station.cable.readable = !end.station.cable.readable;
    } else {
      net.run(net.now + random.below(20) * kMicrosecond);
      if (random.one_in(2)) poll();
    }
  }

  void poll() {
    net.a.poll();
    net.b.poll();
  }

  // The rest: whoever waits for a receive request or for the end of a draining gets it.
  void finish() {
    for (bool more = true; more;) {
      net.run(net.now + 20 * kMillisecond);
      poll();
      more = false;
      for (End* end : {&a, &b}) {
        if (end->qp->state == IBV_QPS_SQD && end->change(IBV_QPS_RTS) == 0) more = true;  // it is drained
        while (end->missing > 0 && end->receive()) more = true;
      }
    }
  }
};

}  // namespace

TEST_CASE("on a path that loses nothing all requests are done without an ACK timeout") {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Work work(seed);
    for (int i = 0; i < 150; ++i) work.step();
    work.finish();
    for (End* end : {&work.a, &work.b}) {
      End& peer = end == &work.a ? work.b : work.a;
      // Behind what gives no completion, and may be unanswered; there may be no room for it, by the rules of adapters.
      const Send last{.opcode = IBV_WR_RDMA_WRITE,
                      .remote_addr = reinterpret_cast<std::uintptr_t>(peer.bytes.data()),
                      .rkey = peer.region->rkey()};
      CHECK((post_send(end->station, end->qp, last) == 0 || end->qp->sq.full()));
      work.net.run(work.net.now + kMillisecond);
      CHECK(end->qp->state == IBV_QPS_RTS);
      CHECK(end->qp->sq.empty());
    }
  }
}
