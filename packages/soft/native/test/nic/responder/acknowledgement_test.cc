// When the requester asks for acknowledgements: an unsignaled message does not while other messages follow it.
#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

// SENDs of 64 bytes from a to b, the last one lost if wanted.
struct Stream {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC, 256);  // room for all that is not signaled
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  std::vector<std::uint8_t> near = pattern(64), far = std::vector<std::uint8_t>(64);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote = net.b.reg(far.data(), far.size());
  std::size_t received = 0;

  Stream() { net.connect(qa, qb, {.timeout = 15}); }  // 134 ms

  void send(int count, Nanos apart, unsigned flags = 0) {
    for (int i = 0; i < count; ++i) {
      REQUIRE(post_recv(net.b, qb, 1, {sge_of(far.data(), 64, remote)}) == 0);
      REQUIRE(post_send(net.a, qa, {.sges = {sge_of(near.data(), 64, local)}, .flags = flags}) == 0);
      const Nanos next = net.now + apart;
      net.run(next);
      net.now = std::max(net.now, next);
      received += net.b.poll().size();
    }
  }
  long frames_of(char who) const {
    return std::count_if(net.trace.begin(), net.trace.end(),
                         [&](const std::string& line) { return line[line.find(' ') + 1] == who; });
  }
};

}  // namespace

TEST_CASE("messages that give no completion share an acknowledgement; one that gives one has its own") {
  Stream stream;
  stream.send(160, 10 * kMicrosecond);
  CHECK(stream.received + stream.net.b.poll().size() == 160);
  CHECK(stream.frames_of('a') == 160);
  CHECK(stream.frames_of('b') >= 10);
  CHECK(stream.frames_of('b') <= 20);
  const long before = stream.frames_of('b');
  stream.send(20, 10 * kMicrosecond, IBV_SEND_SIGNALED);
  CHECK(stream.frames_of('b') == before + 20);
  CHECK(stream.net.a.poll().size() == 20);
  CHECK(stream.net.a.nic->counters().retransmitted_pkts == 0);
}

TEST_CASE("messages that come rarely have an acknowledgement each, so that none is asked for again") {
  Stream stream;
  stream.send(50, 2 * kMillisecond);
  CHECK(stream.received + stream.net.b.poll().size() == 50);
  CHECK(stream.frames_of('a') == 50);
  CHECK(stream.frames_of('b') == 50);
}

TEST_CASE("a lost message that gives no completion and has none after it arrives long before the ACK timeout") {
  Stream stream;
  stream.send(5, 10 * kMicrosecond);
  stream.net.a.cable.unplugged = true;
  stream.send(1, 10 * kMicrosecond);
  stream.net.a.cable.unplugged = false;
  stream.net.run(stream.net.now + 20 * kMillisecond);
  CHECK(stream.received + stream.net.b.poll().size() == 6);
  CHECK(stream.net.a.nic->counters().ack_timeout == 0);
}
