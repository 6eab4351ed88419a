// READ responses that refer to their payload, over a cable whose one end can read the other's memory.
#include <algorithm>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kReadSize = (1 << 20) + 100;

struct ReferredRead : VirtualNetwork {
  nic::Qp* qa = a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = b.create_qp(IBV_QPT_RC);
  std::vector<std::uint8_t> near = std::vector<std::uint8_t>(kReadSize), far = pattern(kReadSize, 3);
  nic::Mr* local = a.reg(near.data(), near.size());
  nic::Mr* remote = b.reg(far.data(), far.size());

  explicit ReferredRead(const Connection& connection = {}) {
    a.cable.shares_memory = b.cable.shares_memory = true;
    connect(qa, qb, connection);
  }

  // Into two pieces that are not in the order of memory.
  Send request(std::uint32_t size = kReadSize) {
    return {.opcode = IBV_WR_RDMA_READ,
            .sges = {sge_of(near.data() + 5000, size - 5000, local), sge_of(near.data(), 5000, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  }
  Send atomic() {
    return {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
            .sges = {sge_of(near.data(), 8, local)},
            .remote_addr = reinterpret_cast<std::uint64_t>(far.data()),
            .rkey = remote->rkey()};
  }
  bool arrived() const {
    return std::equal(near.begin() + 5000, near.end(), far.begin()) &&
           std::equal(near.begin(), near.begin() + 5000, far.end() - 5000);
  }
  ibv_wc_status read() {
    std::fill(near.begin(), near.end(), 0);
    REQUIRE(post_send(a, qa, request()) == 0);
    run();
    const std::vector<ibv_wc> completions = a.poll();
    REQUIRE(completions.size() == 1);
    return completions[0].status;
  }
  // Until the responses are on their way.
  void answer() {
    REQUIRE(post_send(a, qa, request()) == 0);
    a.nic->scheduler().pump(now);
    run(now + kMicrosecond);
    REQUIRE(b.cable.referring > 0);
  }
};

}  // namespace

TEST_CASE("the response to a large READ is a few packets that refer to it") {
  Connection connection;
  SUBCASE("packets of 1024 bytes") {}
  SUBCASE("of 256") { connection.mtu = IBV_MTU_256; }
  SUBCASE("of 4096, one READ at a time") { connection.mtu = IBV_MTU_4096, connection.rd_atomic = 1; }
  ReferredRead net(connection);
  CHECK(net.read() == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK(net.b.cable.referring == 4);  // the last 100 bytes are a packet
  CHECK(net.a.nic->counters().retransmitted_pkts == 0);
  for (int i = 0; i < 8; ++i) REQUIRE(post_send(net.a, net.qa, net.request()) == 0);
  net.run();
  CHECK(net.a.poll().size() == 8);
  CHECK(net.b.cable.referring == 36);
  CHECK(net.a.nic->counters().retransmitted_pkts == 0);
}

TEST_CASE("small READs, and those into no plain memory, have their payload") {
  ReferredRead net;
  REQUIRE(post_send(net.a, net.qa, net.request(16'000)) == 0);
  nic::Mr* null = nullptr;
  REQUIRE(net.a.nic->mrs().alloc_null(net.a.pd, &null) == 0);
  Send send = net.request();
  send.sges = {{0, kReadSize, null->lkey()}};
  REQUIRE(post_send(net.a, net.qa, send) == 0);
  net.run();
  for (const ibv_wc& wc : net.a.poll()) CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(net.b.cable.referring == 0);
  CHECK(net.a.nic->counters().retransmitted_pkts == 0);
}

TEST_CASE("no READ response refers where an end must see the payload") {
  ReferredRead net;
  SUBCASE("the requester") { net.a.cable.shares_memory = false; }
  SUBCASE("the responder") { net.b.cable.shares_memory = false; }
  CHECK(net.read() == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK(net.b.cable.referring == 0);
}

TEST_CASE("the payload that the requester cannot read is asked for, which takes no retry") {
  ReferredRead net({.retry_cnt = 0});
  net.b.cable.readable = false;
  CHECK(net.read() == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  const int tried = net.b.cable.referring;
  CHECK(tried == 4);
  CHECK(net.read() == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK(net.b.cable.referring == tried);  // the second READ does not try
  net.b.cable.readable = true;            // after a while READs try again
  for (int i = 0; i < 70; ++i) REQUIRE(net.read() == IBV_WC_SUCCESS);
  CHECK(net.b.cable.referring > tried);
  CHECK(net.arrived());
}

TEST_CASE("what the requester has mapped is copied from there") {
  ReferredRead net({.retry_cnt = 0});
  const std::vector<std::uint8_t> copy = net.far;
  net.b.cable.readable = false;
  bool faults = false;
  SUBCASE("as it is there") {}
  SUBCASE("and is asked for where that faults") { faults = true; }
  net.b.cable.mapped = [&](const link::Reference& piece) {
    const std::uint64_t offset = piece.address - reinterpret_cast<std::uintptr_t>(net.far.data());
    REQUIRE(offset + piece.size <= copy.size());
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return faults ? reinterpret_cast<const std::uint8_t*>(std::uintptr_t{4096}) : copy.data() + offset;
  };
  CHECK(net.read() == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK((net.a.nic->counters().retransmitted_pkts > 0) == faults);
}

TEST_CASE("READs among WRITEs, in both directions, with memory that cannot be read now and then") {
  ReferredRead net;
  std::vector<std::uint8_t> own = pattern(kReadSize, 7);
  nic::Mr* region = net.b.reg(own.data(), own.size());
  for (int i = 0; i < 60; ++i) {
    net.a.cable.readable = i % 3 != 0;
    net.b.cable.readable = i % 7 != 0;
    std::fill(net.near.begin(), net.near.end(), 0);
    REQUIRE(post_send(net.a, net.qa, net.request()) == 0);
    Send write = net.request();
    write.opcode = IBV_WR_RDMA_WRITE;
    write.flags |= IBV_SEND_FENCE;
    REQUIRE(post_send(net.a, net.qa, write) == 0);
    Send back{.opcode = IBV_WR_RDMA_READ,
              .sges = {sge_of(own.data(), kReadSize, region)},
              .remote_addr = reinterpret_cast<std::uint64_t>(net.near.data()),
              .rkey = net.local->rkey()};
    REQUIRE(post_send(net.b, net.qb, back) == 0);
    net.run();
    for (const ibv_wc& wc : net.a.poll()) CHECK(wc.status == IBV_WC_SUCCESS);
    for (const ibv_wc& wc : net.b.poll()) CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(net.arrived());
  }
  CHECK(net.a.cable.referring > 0);
  CHECK(net.b.cable.referring > 0);
}

TEST_CASE("a response that is lost is asked for again") {
  ReferredRead net;
  REQUIRE(post_send(net.a, net.qa, net.request()) == 0);
  net.a.nic->scheduler().pump(net.now);
  net.b.cable.unplugged = true;
  net.run(net.now + kMicrosecond);
  REQUIRE(net.b.cable.referring > 0);
  net.b.cable.unplugged = false;
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.arrived());
  CHECK(net.b.nic->counters().duplicate_request > 0);
}

TEST_CASE("a response of many packets that is lost comes long before the ACK timeout, with one READ at a time") {
  ReferredRead net({.mtu = IBV_MTU_4096, .timeout = 18, .rd_atomic = 1});  // 1.07 s
  Send write = net.request(64 + 5000);                                     // by which the NIC measures the round trip
  write.opcode = IBV_WR_RDMA_WRITE;
  REQUIRE(post_send(net.a, net.qa, write) == 0);
  net.run();
  REQUIRE(net.a.poll().size() == 1);
  const Nanos begin = net.now;
  REQUIRE(post_send(net.a, net.qa, net.request(200'000)) == 0);
  net.a.nic->scheduler().pump(net.now);
  net.b.cable.unplugged = true;
  net.run(net.now + kMicrosecond);
  net.b.cable.unplugged = false;
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.now - begin < 100 * kMillisecond);
}

TEST_CASE("the application gets memory back only when no requester uses what it reads there") {
  ReferredRead net;
  ibv_wc_status expected = IBV_WC_RETRY_EXC_ERR;
  net.answer();
  SUBCASE("a region that ends") {
    REQUIRE(net.b.nic->mrs().dereg(net.remote) == 0);
    expected = IBV_WC_REM_ACCESS_ERR;  // as when the READ comes too late
  }
  SUBCASE("a region that changes") {
    nic::Rereg plan;
    REQUIRE(nic::MrTable::plan_rereg(net.remote, IBV_REREG_MR_CHANGE_ACCESS, nullptr, 0, IBV_ACCESS_LOCAL_WRITE,
                                     &plan) == 0);
    REQUIRE(net.b.nic->mrs().rereg(net.remote, plan, nullptr) == 0);
    expected = IBV_WC_REM_ACCESS_ERR;
  }
  SUBCASE("a reset") {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RESET;
    REQUIRE(net.b.nic->qps().modify(net.qb, &attr, IBV_QP_STATE) == 0);
  }
  SUBCASE("a destruction") { REQUIRE(net.b.nic->qps().destroy(net.qb) == 0); }
  CHECK(net.b.cable.epoch == 1);
  net.run();
  CHECK(net.a.poll().at(0).status == expected);
}

TEST_CASE("a window closes only when no requester uses what it reads through it") {
  ReferredRead net;
  nic::Mr* region = nullptr;
  REQUIRE(net.b.nic->mrs().reg(net.b.pd, net.far.data(), kReadSize, reinterpret_cast<std::uintptr_t>(net.far.data()),
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, &region) == 0);
  nic::MwTable& windows = net.b.nic->mws();
  nic::Mw* window = nullptr;
  REQUIRE(windows.alloc(net.b.pd, IBV_MW_TYPE_2, &window) == 0);
  const nic::MwBind bind{.rkey = window->rkey(),
                         .key_byte = static_cast<std::uint8_t>(window->rkey() + 1),
                         .lkey = region->lkey(),
                         .address = reinterpret_cast<std::uintptr_t>(net.far.data()),
                         .length = kReadSize,
                         .access = IBV_ACCESS_REMOTE_READ};
  REQUIRE(windows.bind(*net.qb, bind));
  Send through = net.request();
  through.rkey = window->rkey();
  REQUIRE(post_send(net.a, net.qa, through) == 0);
  net.a.nic->scheduler().pump(net.now);
  net.run(net.now + kMicrosecond);
  REQUIRE(net.b.cable.referring > 0);
  SUBCASE("by an invalidation") { REQUIRE(windows.invalidate(*net.qb, window->rkey())); }
  SUBCASE("by its end") { REQUIRE(windows.dealloc(window) == 0); }
  CHECK(net.b.cable.epoch == 1);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("memory that no READ has referred to goes without a word") {
  ReferredRead net;
  std::vector<std::uint8_t> other(kReadSize);
  nic::Mr* region = net.b.reg(other.data(), other.size());
  net.answer();
  REQUIRE(net.b.nic->mrs().dereg(region) == 0);
  CHECK(net.b.cable.epoch == 0);
  net.run();
  CHECK(net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(net.arrived());
}

TEST_CASE("a request that comes twice, and whose READ is complete, does not need its key any more") {
  Connection connection;
  std::uint32_t size = kReadSize;
  bool readable = true;
  SUBCASE("of a small READ after a large one") { size = 1000; }
  SUBCASE("of a small READ after a large one that could not be read") { size = 1000, readable = false; }
  SUBCASE("of a large READ in small packets") { connection.mtu = IBV_MTU_256; }
  SUBCASE("of a large READ that could not be read") { readable = false; }
  ReferredRead net(connection);
  net.b.cable.readable = readable;
  std::vector<std::uint8_t> other(kReadSize);
  nic::Mr* region = net.b.reg(other.data(), other.size());
  if (size != kReadSize) REQUIRE(net.read() == IBV_WC_SUCCESS);

  // The first answers are lost, so that the requester asks again.
  std::vector<std::vector<std::uint8_t>> requests;
  net.a.cable.observe = [&](auto frame) { requests.emplace_back(frame.begin(), frame.end()); };
  Send send = net.request();
  send.sges = {sge_of(net.near.data(), size, net.local)};
  send.remote_addr = reinterpret_cast<std::uint64_t>(other.data());
  send.rkey = region->rkey();
  REQUIRE(post_send(net.a, net.qa, send) == 0);
  net.a.nic->scheduler().pump(net.now);
  net.b.cable.unplugged = true;
  net.run(net.now + kMillisecond);
  net.b.cable.unplugged = false;
  net.run();
  REQUIRE(net.a.nic->counters().retransmitted_pkts > 0);
  REQUIRE(net.a.poll().at(0).status == IBV_WC_SUCCESS);

  REQUIRE(net.b.nic->mrs().dereg(region) == 0);
  for (const auto& request : requests) net.b.deliver(request);
  net.run();
  CHECK(net.qb->state == IBV_QPS_RTS);
  CHECK_FALSE(net.b.saw(IBV_EVENT_QP_ACCESS_ERR));
  CHECK(net.read() == IBV_WC_SUCCESS);
  CHECK(net.arrived());
}

TEST_CASE("a READ with a wrong key fails behind one that succeeds") {
  ReferredRead net;
  REQUIRE(post_send(net.a, net.qa, net.request()) == 0);
  Send wrong = net.request();
  wrong.rkey ^= 1;
  REQUIRE(post_send(net.a, net.qa, wrong) == 0);
  net.run();
  const std::vector<ibv_wc> completions = net.a.poll();
  REQUIRE(completions.size() == 2);
  CHECK(completions[0].status == IBV_WC_SUCCESS);
  CHECK(completions[1].status == IBV_WC_REM_ACCESS_ERR);
  CHECK(net.arrived());
  CHECK(net.b.cable.epoch == 0);
}

TEST_CASE("a READ whose memory is gone at either end fails as one with a payload") {
  ReferredRead net;
  net.b.cable.readable = false;
  ibv_wc_status expected = IBV_WC_SUCCESS;
  net.answer();
  SUBCASE("the remote region") {
    REQUIRE(net.b.nic->mrs().dereg(net.remote) == 0);
    expected = IBV_WC_REM_ACCESS_ERR;
  }
  SUBCASE("the local region") {
    REQUIRE(net.a.nic->mrs().dereg(net.local) == 0);
    expected = IBV_WC_LOC_PROT_ERR;
  }
  net.run();
  CHECK(net.a.poll().at(0).status == expected);
}

namespace {

// What a hostile responder sends.
struct Forger final : link::SenderMemory {
  ReferredRead& net;
  bool readable = true;
  int reads = 0;

  explicit Forger(ReferredRead& of) : net(of) {}
  bool read(std::span<const iovec> /*to*/, std::span<const link::Reference> /*from*/) override {
    return ++reads, readable;
  }
  void deliver(wire::Operation operation, const std::vector<link::Reference>& list, std::uint32_t psn) {
    std::uint8_t frame[wire::kMaxFrame] = {};
    wire::Path path;
    path.sgid = net.b.gid;
    path.dgid = net.a.gid;
    const std::uint8_t opcode = wire::make_opcode(wire::Transport::kRc, operation);
    const std::size_t header = wire::opcode_info(opcode)->header_size;
    const std::size_t bytes = list.size() * sizeof(link::Reference);
    const std::size_t transport = header + bytes + wire::kIcrcSize;
    const std::size_t network = wire::write_network(frame, path, transport);
    wire::Bth bth;
    bth.opcode = opcode;
    bth.dest_qpn = net.qa->number;
    bth.psn = psn & 0xffffff;
    bth.emit(frame + network);
    if (header > wire::Bth::kSize) {
      wire::Aeth{wire::kAckUnlimitedCredits, 1}.emit(frame + network + wire::Bth::kSize);
    }
    if (bytes > 0) std::memcpy(frame + network + header, list.data(), bytes);
    net.a.nic->ingress().deliver_referring(1, {frame, network + transport}, net.now, *this);
  }
};

constexpr std::uint32_t kFirstPsn = 0xfffff0;

}  // namespace

TEST_CASE("responses with lists that no responder makes end the connection, or are dropped") {
  ReferredRead net;
  Forger forger(net);
  forger.deliver(wire::kReadResponseOnly, {{0, 64}}, kFirstPsn);  // nothing was asked for
  REQUIRE(post_send(net.a, net.qa, net.request(40'000)) == 0);
  net.a.nic->scheduler().pump(net.now);
  const std::uint64_t dropped = net.a.nic->counters().dropped_pkts;
  forger.deliver(wire::kReadResponseOnly, {}, kFirstPsn);
  forger.deliver(wire::kAcknowledge, {{0, 1024}}, kFirstPsn);
  forger.deliver(wire::kAtomicAcknowledge, {{0, 8}}, kFirstPsn);
  CHECK(net.a.nic->counters().dropped_pkts == dropped + 3);
  forger.deliver(wire::kReadResponseOnly, {{0, 40'961}}, kFirstPsn);      // more packets than were asked for
  forger.deliver(wire::kReadResponseOnly, {{0, 40'000}}, kFirstPsn - 1);  // before them
  CHECK(forger.reads == 0);
  CHECK(net.qa->state == IBV_QPS_RTS);
  CHECK(net.a.poll().empty());
  int reads = 0;
  SUBCASE("too long") { forger.deliver(wire::kReadResponseOnly, {{0, 40'001}}, kFirstPsn); }
  SUBCASE("no whole packets") { forger.deliver(wire::kReadResponseFirst, {{0, 1025}}, kFirstPsn); }
  SUBCASE("nothing") { forger.deliver(wire::kReadResponseOnly, {{0, 0}}, kFirstPsn); }
  SUBCASE("too long after a part") {
    forger.deliver(wire::kReadResponseFirst, {{0, 1000}, {4096, 1048}}, kFirstPsn);
    forger.deliver(wire::kReadResponseLast, {{0, 40'000 - 2048 + 1}}, kFirstPsn + 2);
    reads = 1;
  }
  SUBCASE("for an atomic") {
    REQUIRE(post_send(net.a, net.qa, net.atomic()) == 0);
    net.a.nic->scheduler().pump(net.now);
    forger.deliver(wire::kReadResponseOnly, {{0, 40'000}}, kFirstPsn);
    REQUIRE(net.a.poll().at(0).status == IBV_WC_SUCCESS);
    forger.deliver(wire::kReadResponseOnly, {{0, 8}}, kFirstPsn + 40);
    reads = 1;
  }
  CHECK(forger.reads == reads);
  CHECK(net.qa->state == IBV_QPS_ERR);
  CHECK(net.a.poll().at(0).status == IBV_WC_BAD_RESP_ERR);
}

TEST_CASE("responses that can never be read end a READ by its retries") {
  ReferredRead net({.retry_cnt = 2});
  Forger forger(net);
  forger.readable = false;
  net.a.cable.unplugged = true;
  REQUIRE(post_send(net.a, net.qa, net.request(40'000)) == 0);
  std::vector<ibv_wc> completions;
  for (; completions.empty() && net.now < 1000 * kMillisecond; net.now += 10 * kMicrosecond) {
    net.a.nic->scheduler().pump(net.now);
    forger.deliver(wire::kReadResponseOnly, {{0, 40'000}}, kFirstPsn);
    completions = net.a.poll();
  }
  REQUIRE(completions.size() == 1);
  CHECK(completions[0].status == IBV_WC_RETRY_EXC_ERR);
  CHECK(net.now < 3 * 5 * kMillisecond);
}
