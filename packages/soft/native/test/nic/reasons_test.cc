// Why something was refused: the table of reasons, the ring of the last ones, and what the parts of the NIC put there.
#include "nic/base/reasons.h"

#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <string>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;
using nic::Reason;

TEST_CASE("each reason has a name of its own, a sentence with its values, and help") {
  std::set<std::string> names;
  for (std::size_t i = 1; i < nic::kReasons; ++i) {
    const nic::ReasonInfo& info = nic::info_of(static_cast<Reason>(i));
    CAPTURE(info.name);
    CHECK(names.insert(info.name).second);
    CHECK(std::string(info.help).size() > 2);
    const std::string sentence = info.sentence;
    const auto values = nic::values_of({static_cast<Reason>(i), {1, 2, 3, 4}});
    CHECK(static_cast<std::ptrdiff_t>(values.size()) == std::count(sentence.begin(), sentence.end(), '{'));
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, UINT64_MAX}) {
      const std::string text = nic::sentence_of({static_cast<Reason>(i), {value, value, value, value}});
      CHECK(text.find_first_of("{}") == std::string::npos);
    }
  }
  // A number from elsewhere.
  CHECK(std::string(nic::info_of(static_cast<Reason>(255)).name) == "none");
}

TEST_CASE("values are told by their names") {
  CHECK(nic::sentence_of({Reason::kQpRight, {IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_LOCAL_WRITE | 1u << 30}}) ==
        "access of the queue pair lacks REMOTE_ATOMIC: it is LOCAL_WRITE, 0x40000000");
  CHECK(nic::sentence_of(
            {Reason::kMissingAttributes, {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_RC, IBV_QP_AV | IBV_QP_PATH_MTU}}) ==
        "the step from INIT to RTR of RC needs IBV_QP_AV (ah_attr), IBV_QP_PATH_MTU, too");
  CHECK(nic::sentence_of({Reason::kLargeMtu, {IBV_MTU_4096, IBV_MTU_1024}}) ==
        "path_mtu is 4096, and the active MTU of the port is 1024");
}

TEST_CASE("the ring has the last events, and of those in a row that are alike one") {
  auto ring = std::make_unique<nic::ReasonRing>();
  const auto add = [&](Reason reason, std::uint32_t qp, std::uint64_t count) {
    nic::ReasonEvent event;
    event.why.reason = reason;
    event.qp = qp;
    event.count = count;
    ring->add(event);
  };
  for (std::uint64_t i = 0; i < 1000; ++i) add(Reason::kDropQkey, 1, i);
  add(Reason::kSendState, 1, 1);
  std::vector<std::uint64_t> counts;
  ring->for_each([&](const nic::ReasonEvent& event) { counts.push_back(event.count); });
  CHECK(counts == std::vector<std::uint64_t>{999, 1});
  for (std::uint32_t qp = 0; qp < 100; ++qp) add(Reason::kQueueFull, qp, qp);
  counts.clear();
  ring->for_each([&](const nic::ReasonEvent& event) { counts.push_back(event.count); });
  REQUIRE(counts.size() == nic::ReasonRing::kRoom);
  CHECK(counts.front() == 36);
  CHECK(counts.back() == 99);
  CHECK(ring->find_last([](const nic::ReasonEvent& event) { return event.qp == 40; })->count == 40);
  CHECK(ring->find_last([](const nic::ReasonEvent& event) { return event.qp == 1; }) == nullptr);
}

namespace {

// The last reason of a station, with its sentence.
nic::Why last_of(const Station& station) {
  const nic::ReasonEvent* event = station.nic->reasons().find_last([](const nic::ReasonEvent&) { return true; });
  return event != nullptr ? event->why : nic::Why{};
}

constexpr unsigned kAll = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

struct Pair {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  std::vector<std::uint8_t> near = pattern(8192);
  std::vector<std::uint8_t> far = pattern(8192, 2);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* remote;
  explicit Pair(unsigned access = kAll | IBV_ACCESS_LOCAL_WRITE, unsigned connection = kAll)
      : remote(net.b.reg(far.data(), far.size(), access)) {
    net.connect(qa, qb, {.access = connection});
  }

  // What the responder has against the request.
  nic::Why refuse(ibv_wr_opcode opcode, std::uint32_t size, std::uint64_t offset = 0, std::uint32_t key_change = 0) {
    const Send send{.opcode = opcode,
                    .sges = {sge_of(near.data(), size, local)},
                    .remote_addr = reinterpret_cast<std::uint64_t>(far.data()) + offset,
                    .rkey = remote->rkey() ^ key_change};
    REQUIRE(post_send(net.a, qa, send) == 0);
    net.run();
    REQUIRE(net.a.poll().at(0).status != IBV_WC_SUCCESS);
    return last_of(net.b);
  }
};

}  // namespace

TEST_CASE("a responder says what it has against a request") {
  CHECK(Pair().refuse(IBV_WR_RDMA_WRITE, 64, 0, 1).reason == Reason::kUnknownRkey);
  CHECK(Pair(IBV_ACCESS_LOCAL_WRITE).refuse(IBV_WR_RDMA_READ, 64).reason == Reason::kRegionRight);
  CHECK(Pair().refuse(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 4).reason == Reason::kMisaligned);
  const nic::Why right =
      Pair(kAll | IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ).refuse(IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
  CHECK(right.reason == Reason::kQpRight);
  CHECK(right.values[0] == IBV_ACCESS_REMOTE_ATOMIC);
  CHECK(right.values[1] == IBV_ACCESS_REMOTE_READ);
  // Bytes outside, at the end, at the beginning, and all.
  for (const auto& [offset, outside] : {std::pair{8192 - 52, 12}, std::pair{-12, 12}, std::pair{9000, 64}}) {
    const nic::Why why = Pair().refuse(IBV_WR_RDMA_WRITE, 64, static_cast<std::uint64_t>(std::int64_t{offset}));
    CHECK(why.reason == Reason::kBeyondRegion);
    CHECK(why.values[2] == static_cast<std::uint64_t>(outside));
  }
}

TEST_CASE("a reason is counted, and its event has the ends and the request") {
  Pair pair;
  const std::uint64_t before = pair.net.b.nic->counted().reasons[static_cast<std::size_t>(Reason::kUnknownRkey)];
  pair.refuse(IBV_WR_RDMA_WRITE, 64, 0, 1);
  CHECK(pair.net.b.nic->counted().reasons[static_cast<std::size_t>(Reason::kUnknownRkey)] == before + 1);
  const nic::ReasonEvent* event = pair.net.b.nic->reasons().find_last(
      [](const nic::ReasonEvent& each) { return each.place == nic::Place::kResponder; });
  REQUIRE(event != nullptr);
  CHECK(event->qp == pair.qb->number);
  CHECK(event->peer_qp == pair.qa->number);
  CHECK(event->peer == pair.net.a.gid);
  CHECK(event->syndrome == wire::kNakRemoteAccess);
}

TEST_CASE("a peer is new once, if its packets come to no queue pair") {
  VirtualNetwork net;
  std::vector<std::uint32_t> all;
  const auto refuse = [&](std::uint8_t last) {
    wire::Path path;
    path.sgid = wire::Gid::from_ipv4(std::array<std::uint8_t, 4>{10, 0, 0, last}.data());
    path.source_port = 5555;
    net.b.nic->ingress().refuse(path, net.now);
    const nic::ReasonEvent* event = net.b.nic->reasons().find_last([](const nic::ReasonEvent&) { return true; });
    REQUIRE(event != nullptr);
    CHECK(event->why.reason == Reason::kDropSourcePort);
    CHECK(nic::sentence_of(event->why).find("UDP port 5555") != std::string::npos);
    all.push_back(event->new_peer);
  };
  // By turns, too.
  for (const std::uint8_t last : {1, 1, 2, 1, 2, 3}) refuse(last);
  CHECK(all == std::vector<std::uint32_t>{1, 0, 2, 0, 0, 3});
  CHECK(net.b.nic->counted().reasons[static_cast<std::size_t>(Reason::kDropSourcePort)] == 6);
}

TEST_CASE("what succeeds leaves nothing") {
  Pair pair;
  const Send send{.opcode = IBV_WR_RDMA_WRITE,
                  .sges = {sge_of(pair.near.data(), 8192, pair.local)},
                  .remote_addr = reinterpret_cast<std::uint64_t>(pair.far.data()),
                  .rkey = pair.remote->rkey()};
  REQUIRE(post_send(pair.net.a, pair.qa, send) == 0);
  pair.net.run();
  REQUIRE(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
  for (const Station* station : {&pair.net.a, &pair.net.b}) CHECK(last_of(*station).reason == Reason::kNone);
}

TEST_CASE("memory that is gone is no matter of keys") {
  VirtualNetwork net;
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb, {});
  void* pages = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  nic::Mr* mr = net.a.reg(static_cast<std::uint8_t*>(pages), 4096);
  munmap(pages, 4096);
  REQUIRE(post_send(net.a, qa, {.opcode = IBV_WR_SEND, .sges = {sge_of(static_cast<std::uint8_t*>(pages), 64, mr)}}) ==
          0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_LOC_PROT_ERR);
  CHECK(last_of(net.a).reason == Reason::kMemoryGone);
}
