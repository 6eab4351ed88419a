// The same random requests on three networks, one whose NICs hand messages to each other, one whose NICs send them as
// two processes do, and one that has packets only: every completion, event and byte must be the same, every PSN, and
// every counter but those of packets.
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::size_t kBytes = 16384;
constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

// What varies from run to run.
struct Setting {
  Connection connection;
  bool shared = false;  // receive requests come from an SRQ
  bool solicited_only = false;
  int cqe = 4096;
  nic::Rules rules = {};
};

// Half of a network: a queue pair, its memory, and what has come out of it.
struct End {
  Station& station;
  nic::Srq* srq = nullptr;
  nic::Qp* qp = nullptr;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kBytes);
  nic::Mr* open = nullptr;    // all of it, with all rights
  nic::Mr* closed = nullptr;  // all of it, to be read here only

  End(Station& of, const Setting& setting, unsigned seed) : station(of) {
    if (setting.shared) {
      ibv_srq_init_attr init = {};
      init.attr = {64, 4, 0};
      REQUIRE(station.nic->srqs().create(station.pd, &init.attr, &station, &srq) == 0);
    }
    qp = station.create_qp(IBV_QPT_RC, 64, srq);
    bytes = pattern(kBytes, seed);
    open = station.reg(bytes.data(), kBytes, kAll);
    closed = station.reg(bytes.data(), kBytes, 0);
  }
};

enum class Form : std::uint8_t { kPackets, kJoined, kCarried };

struct Pair {
  VirtualNetwork net;
  End a, b;
  Pair(const Setting& setting, Form form)
      : net(false, setting.cqe, setting.rules, form != Form::kPackets), a(net.a, setting, 1), b(net.b, setting, 2) {
    if (form == Form::kCarried) net.carry();
    net.connect(a.qp, b.qp, setting.connection);
  }
};

// Places of the peer's memory are offsets, so that both networks get the same.
struct Step {
  enum Kind : std::uint8_t { kSend, kReceive, kArm, kError, kBusy, kLook } kind = kSend;
  bool from_a = true;
  std::vector<Send> sends = {};  // a list; sges have offsets, lkey 0: the open region, 1: the closed one, else wrong
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces = {};  // of a receive request
  bool closed = false;
};

std::vector<ibv_sge> place(const End& end, std::vector<ibv_sge> sges) {
  for (ibv_sge& sge : sges) {
    sge.addr += reinterpret_cast<std::uintptr_t>(end.bytes.data());
    sge.lkey = sge.lkey == 0 ? end.open->lkey() : sge.lkey == 1 ? end.closed->lkey() : 0xdead00u;
  }
  return sges;
}

int post_list(End& end, const End& peer, const std::vector<Send>& sends) {
  std::vector<std::vector<ibv_sge>> sges;
  std::vector<ibv_send_wr> list(sends.size());
  for (const Send& send : sends) sges.push_back(place(end, send.sges));
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Send& send = sends[i];
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(peer.bytes.data()) + send.remote_addr;
    const std::uint32_t rkey = send.rkey == 0 ? peer.open->rkey() : send.rkey == 1 ? peer.closed->rkey() : 0xdead00u;
    ibv_send_wr& wr = list[i];
    wr = {};
    wr.wr_id = send.wr_id;
    wr.next = i + 1 < sends.size() ? &list[i + 1] : nullptr;
    wr.sg_list = sges[i].data();
    wr.num_sge = static_cast<int>(sges[i].size());
    wr.opcode = send.opcode;
    wr.send_flags = send.flags;
    wr.imm_data = send.imm;
    if (send.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      wr.wr.atomic = {address, send.compare_add, 0, rkey};
    } else {
      wr.wr.rdma = {address, rkey};
    }
  }
  ibv_send_wr* bad = nullptr;
  return end.station.nic->data_path().post_send(end.qp, list.data(), &bad);
}

int post_receive(End& end, const Step& step, std::uint64_t wr_id) {
  std::vector<ibv_sge> sges;
  for (const auto& [offset, length] : step.pieces) sges.push_back({offset, length, step.closed ? 1u : 0u});
  sges = place(end, std::move(sges));
  if (end.srq == nullptr) return post_recv(end.station, end.qp, wr_id, sges);
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  wr.wr_id = wr_id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  return end.station.nic->data_path().post_srq_recv(end.srq, &wr, &bad);
}

int perform(Pair& pair, const Step& step, std::uint64_t number) {
  End& end = step.from_a ? pair.a : pair.b;
  End& peer = step.from_a ? pair.b : pair.a;
  ibv_qp_attr attr = {};
  switch (step.kind) {
    case Step::kSend:
      return post_list(end, peer, step.sends);
    case Step::kReceive:
      return post_receive(end, step, number);
    case Step::kArm:
      end.station.cq->arm(step.closed);
      return 0;
    case Step::kError:
      attr.qp_state = IBV_QPS_ERR;
      return end.station.nic->qps().modify(end.qp, &attr, IBV_QP_STATE);
    case Step::kBusy:  // and a ring is full, so that packets wait for it
      peer.station.gate->busy = !peer.station.gate->busy;
      end.station.cable.has_room = !end.station.cable.has_room;
      return 0;
    case Step::kLook:
      end.station.looks = !end.station.looks;
      return 0;
  }
  return 0;
}

class Script {
 public:
  explicit Script(std::uint64_t seed) : random_(seed) {}

  Setting setting() {
    Setting made;
    made.connection.mtu = one_in(2) ? IBV_MTU_256 : IBV_MTU_1024;
    made.connection.rnr_retry = one_in(3) ? 1 : 7;
    made.connection.access = one_in(8) ? 0u : unsigned{IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    made.connection.access |= one_in(2) ? unsigned{IBV_ACCESS_REMOTE_ATOMIC} : 0u;
    made.connection.rnr_retry = 1;
    made.shared = one_in(4);
    made.cqe = one_in(10) ? 12 : 4096;
    made.rules.slots_until_polled = !one_in(3);
    made.rules.strict = one_in(6);
    return made;
  }

  Step step() {
    Step made;
    made.from_a = one_in(2);
    const unsigned kind = below(100);
    made.kind = kind < 40   ? Step::kSend
                : kind < 85 ? Step::kReceive
                : kind < 93 ? Step::kArm
                : kind < 96 ? Step::kBusy
                : kind < 99 ? Step::kLook
                            : Step::kError;
    if (made.kind == Step::kSend) {
      for (unsigned count = one_in(2) ? 1 : 1 + below(5); count > 0; --count) made.sends.push_back(send());
    }
    made.closed = one_in(made.kind == Step::kArm ? 2 : 60);
    // Most have room for any message.
    for (unsigned count = one_in(6) ? below(4) : 2; count > 0; --count) {
      made.pieces.push_back({below(kBytes / 2), one_in(20) ? length() : 8000});
    }
    return made;
  }

 private:
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  bool one_in(unsigned count) { return below(count) == 0; }

  std::uint32_t length() {
    constexpr std::array<std::uint32_t, 8> kLengths = {0, 1, 63, 64, 255, 256, 257, 1024};
    return one_in(4) ? below(5000) : kLengths[below(kLengths.size())];
  }

  Send send() {
    // No SEND with invalidate: it fails by a timeout, then of the oldest request whose acknowledgement had not left.
    constexpr std::array<ibv_wr_opcode, 8> kOpcodes = {
        IBV_WR_SEND,          IBV_WR_SEND,
        IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
        IBV_WR_RDMA_WRITE,    IBV_WR_RDMA_WRITE_WITH_IMM,
        IBV_WR_RDMA_READ,     IBV_WR_ATOMIC_FETCH_AND_ADD,
    };
    Send made;
    made.wr_id = ++number_;
    made.opcode = kOpcodes[below(one_in(10) ? kOpcodes.size() : 6)];
    made.imm = below(UINT32_MAX);
    made.compare_add = below(1000);
    made.flags = (one_in(3) ? 0u : unsigned{IBV_SEND_SIGNALED}) | (one_in(4) ? unsigned{IBV_SEND_SOLICITED} : 0u) |
                 (one_in(6) ? unsigned{IBV_SEND_FENCE} : 0u);
    made.remote_addr = one_in(50) ? kBytes - 3 : 8 * below(kBytes / 16);
    made.rkey = one_in(60) ? 2 : one_in(60) ? 1 : 0;
    if (made.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      made.sges = {{below(kBytes / 2), 8, 0}};
      return made;
    }
    const bool in_line = one_in(5) && made.opcode != IBV_WR_RDMA_READ;
    if (in_line) made.flags |= IBV_SEND_INLINE;
    for (unsigned count = one_in(2) ? 1 : below(4); count > 0; --count) {
      const std::uint32_t key = one_in(70) ? 2 : one_in(20) ? 1 : 0;
      made.sges.push_back({below(kBytes / 2), in_line ? below(50) : length(), in_line ? 0 : key});
    }
    return made;
  }

  std::mt19937_64 random_;
  std::uint64_t number_ = 0;
};

using Completed = std::tuple<std::uint64_t, int, int, std::uint32_t, std::uint32_t, unsigned, std::uint32_t>;

// Of the fields that a program may read: those of a failed one are few.
std::vector<Completed> completions(Station& station) {
  std::vector<Completed> all;
  for (const ibv_wc& wc : station.poll()) {
    const bool good = wc.status == IBV_WC_SUCCESS;
    all.emplace_back(wc.wr_id, wc.status, good ? wc.opcode : 0, good ? wc.byte_len : 0,
                     good && (wc.wc_flags & IBV_WC_WITH_IMM) != 0 ? wc.imm_data : 0, good ? wc.wc_flags : 0, wc.qp_num);
  }
  return all;
}

std::vector<std::pair<int, bool>> events(const Station& station) {
  std::vector<std::pair<int, bool>> all;
  for (const nic::AsyncEvent& event : station.events) all.emplace_back(event.type, event.qp != nullptr);
  return all;
}

// But those of packets: there are no acknowledgements, and fewer packets on their way when one is sent again.
std::array<std::uint64_t, 7> counters(const Station& station) {
  const nic::Counters& all = station.nic->counters();
  return {all.out_of_seq_request,     all.rcvd_rnr_err,        all.send_rnr_err, all.rcvd_seq_err,
          all.retry_rnr_exceeded_err, all.completer_retry_err, all.rdma_recvs};
}

void compare(const End& messages, const End& packets, const std::vector<Completed>& completed) {
  CHECK(completions(messages.station) == completed);
  CHECK(events(messages.station) == events(packets.station));
  CHECK(messages.station.notifications == packets.station.notifications);
  const auto counted = counters(messages.station), expected = counters(packets.station);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    CAPTURE(i);
    CHECK(counted[i] == expected[i]);
  }
  CHECK(messages.bytes == packets.bytes);
  CHECK(messages.qp->state == packets.qp->state);
  CHECK(messages.qp->resp.expected_psn == packets.qp->resp.expected_psn);
  CHECK(messages.qp->resp.msn == packets.qp->resp.msn);
  if (messages.qp->state == IBV_QPS_ERR) return;  // how many requests had started behind the one that failed?
  CHECK(messages.qp->req.next_psn == packets.qp->req.next_psn);
  CHECK(messages.station.nic->counters().rdma_sends == packets.station.nic->counters().rdma_sends);
  CHECK(messages.qp->sq.taken() == packets.qp->sq.taken());
  CHECK(messages.qp->rq.taken() == packets.qp->rq.taken());
}

void compare(std::initializer_list<const End*> all, const End& packets) {
  const std::vector<Completed> completed = completions(packets.station);
  for (const End* messages : all) compare(*messages, packets, completed);
}

// Packets that were none, and messages that were sent as such.
struct Counted {
  std::uint64_t handed_over = 0;
  std::uint64_t carried = 0;
};

// Until both queue pairs have failed.
void run(std::uint64_t seed, int steps, Counted* counted) {
  CAPTURE(seed);
  Script script(seed);
  const Setting setting = script.setting();
  Pair joined(setting, Form::kJoined);
  Pair carried(setting, Form::kCarried);
  Pair packets(setting, Form::kPackets);
  for (int number = 0; number < steps; ++number) {
    CAPTURE(number);
    const Step step = script.step();
    const auto id = static_cast<std::uint64_t>(1'000'000 + number);
    const int expected = perform(packets, step, id);
    packets.net.run();
    for (Pair* messages : {&joined, &carried}) {
      CAPTURE(messages == &joined);
      CHECK(perform(*messages, step, id) == expected);
      messages->net.run();
    }
    compare({&joined.a, &carried.a}, packets.a);
    compare({&joined.b, &carried.b}, packets.b);
    if (packets.a.qp->state == IBV_QPS_ERR && packets.b.qp->state == IBV_QPS_ERR) break;
  }
  for (const Pair* messages : {&joined, &carried}) {
    for (const Station* each : {&messages->net.a, &messages->net.b}) {
      counted->handed_over += each->nic->counters().handed_over_pkts;
      counted->carried += static_cast<std::uint64_t>(each->cable.carried);
    }
  }
}

}  // namespace

TEST_CASE("messages and packets have the same results") {
  Counted counted;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) run(seed, 80, &counted);
  CHECK(counted.handed_over > 5'000);
  CHECK(counted.carried > 10'000);
}

TEST_CASE("a message makes no packet, and packets go on where it ends") {
  VirtualNetwork net(false, 64, {}, true);
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  auto from = pattern(64);
  std::vector<std::uint8_t> to(64);
  nic::Mr* source = net.a.reg(from.data(), from.size());
  nic::Mr* target = net.b.reg(to.data(), to.size());
  const auto send = [&] {
    std::ranges::fill(to, 0);
    REQUIRE(post_recv(net.b, qb, 1, {sge_of(to.data(), 64, target)}) == 0);
    REQUIRE(post_send(net.a, qa, {.sges = {sge_of(from.data(), 64, source)}}) == 0);
  };
  send();  // complete when the call returns
  CHECK(net.a.poll().size() == 1);
  CHECK(net.b.poll().size() == 1);
  CHECK(from == to);
  CHECK(net.a.nic->scheduler().is_idle());
  CHECK(net.trace.empty());
  CHECK(net.a.nic->counters().sent_pkts == 1);
  CHECK(net.b.nic->counters().rcvd_bytes == net.a.nic->counters().sent_bytes);

  net.b.gate->busy = true;
  send();
  CHECK(net.a.poll().empty());
  net.run();
  CHECK(net.trace.size() == 2);  // the message and its acknowledgement
  CHECK(net.a.poll().size() == 1);
  CHECK(net.b.poll().size() == 1);
  CHECK(from == to);
  // A message of that length counts as its packet.
  CHECK(net.a.nic->counters().sent_bytes % 2 == 0);
  CHECK(net.a.nic->counters().sent_pkts == 2);

  net.b.gate->busy = false;
  send();
  CHECK(net.b.poll().size() == 1);
  CHECK(net.trace.size() == 2);

  // Somebody looks at the receiver's packets from now on.
  net.b.cable.beyond = nullptr;
  link::Neighbourhood::changed();
  send();
  CHECK(net.b.poll().empty());
  net.run();
  CHECK(net.b.poll().size() == 1);
  CHECK(net.trace.size() == 4);
}

TEST_CASE("a message to another process becomes a packet where somebody looks, and its answer too") {
  VirtualNetwork net(false, 64, {}, true);
  net.carry();
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  auto from = pattern(64);
  std::vector<std::uint8_t> to(64);
  nic::Mr* source = net.a.reg(from.data(), from.size());
  nic::Mr* target = net.b.reg(to.data(), to.size());
  const auto send = [&](ibv_wr_opcode opcode) {
    std::ranges::fill(to, 0);
    REQUIRE(post_recv(net.b, qb, 1, {sge_of(to.data(), 64, target)}) == 0);
    REQUIRE(post_send(net.a, qa,
                      {.opcode = opcode,
                       .sges = {sge_of(from.data(), 64, source)},
                       .remote_addr = reinterpret_cast<std::uintptr_t>(to.data()),
                       .rkey = target->rkey(),
                       .imm = 7}) == 0);
    net.run();
    CHECK(from == to);
    CHECK(net.a.poll().size() == 1);
    const std::vector<ibv_wc> received = net.b.poll();
    REQUIRE(received.size() == 1);
    return received.front();
  };
  CHECK(send(IBV_WR_SEND).byte_len == 64);
  CHECK(send(IBV_WR_RDMA_WRITE_WITH_IMM).imm_data == 7);
  CHECK(net.trace.empty());
  CHECK(net.a.cable.carried == 2);
  CHECK(net.b.cable.carried == 2);
  const nic::Counters& sent = net.a.nic->counters();
  const nic::Counters& received = net.b.nic->counters();
  CHECK(sent.sent_pkts == 2);
  CHECK(sent.sent_bytes == received.rcvd_bytes);
  CHECK(received.sent_bytes == sent.rcvd_bytes);

  // The receiver looks: it sees the packets that the sender would have sent, and answers by a message.
  net.b.looks = true;
  CHECK(send(IBV_WR_SEND_WITH_IMM).imm_data == 7);
  CHECK(net.a.cable.carried == 3);
  CHECK(sent.sent_bytes == received.rcvd_bytes);
  net.a.looks = true;
  send(IBV_WR_SEND);
  CHECK(received.sent_bytes == sent.rcvd_bytes);
  // The sender looks.
  net.a.cable.carries = false;
  link::Neighbourhood::changed();
  send(IBV_WR_SEND);
  CHECK(net.trace.size() == 1);
  CHECK(net.a.cable.carried == 4);
  CHECK(sent.sent_bytes == received.rcvd_bytes);
}

TEST_CASE("a way that ends while a message looks for room is used no more") {
  struct EndingWay final : link::MessageWay {
    CableEnd& cable;
    bool ended = false;
    std::uint8_t room[sizeof(link::Message)] = {};
    explicit EndingWay(CableEnd& of) : cable(of) { of.way = this; }
    std::uint8_t* reserve(std::size_t size) override {
      CHECK_FALSE(ended);
      if (size == 0) return room;
      ended = true;
      cable.way = nullptr;
      link::Neighbourhood::changed();
      return nullptr;
    }
    void commit(const link::Message& /*message*/, std::size_t /*size*/) override { CHECK(false); }
    void flush() override { CHECK_FALSE(ended); }
  };
  VirtualNetwork net(false, 64, {}, true);
  net.carry();
  net.a.cable.carries = false;
  EndingWay way(net.a.cable);
  nic::Qp* qa = net.a.create_qp(IBV_QPT_RC);
  nic::Qp* qb = net.b.create_qp(IBV_QPT_RC);
  net.connect(qa, qb);
  auto bytes = pattern(64);
  nic::Mr* source = net.a.reg(bytes.data(), bytes.size());
  std::vector<std::uint8_t> to(64);
  nic::Mr* target = net.b.reg(to.data(), to.size());
  REQUIRE(post_recv(net.b, qb, 1, {sge_of(to.data(), 64, target)}) == 0);
  REQUIRE(post_send(net.a, qa, {.sges = {sge_of(bytes.data(), 64, source)}}) == 0);
  CHECK_FALSE(net.a.nic->scheduler().send_messages(0));
  CHECK(way.ended);
  CHECK(net.trace.size() == 1);
  net.run();
  CHECK(net.a.poll().size() == 1);
  CHECK(to == bytes);
}
