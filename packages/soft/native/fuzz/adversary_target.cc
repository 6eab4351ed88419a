// Two NICs with somebody on the path between them, in virtual time. The adversary drops, repeats, reorders, reflects
// and rewrites packets as long as the input lasts, then the network is honest. promises.h says what holds with a forged
// ICRC, and what holds without. Afterwards the same stations connect again and exchange a message: nothing was spoilt
// for good.
#include <algorithm>
#include <array>

#include "fuzz/adversary/adversary.h"
#include "fuzz/adversary/promises.h"
#include "fuzz/adversary/station.h"
#include "fuzz/check.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

constexpr int kMostSteps = 200;
constexpr nic::Nanos kLatency = 5'000;  // of the honest network; time must pass, or no timer would end anything

// The stations outlive an execution: making a NIC is slow.
struct Network {
  Station a{1}, b{2};
  nic::Nanos now = 1'000'000;

  Station& station(std::size_t index) { return index % 2 == 0 ? a : b; }
  Station& peer(const Station& of) { return &of == &a ? b : a; }

  void connect(const Terms& terms) {
    a.open(terms);
    b.open(terms);
    a.connect(terms, b);
    b.connect(terms, a);
  }
  void close() {
    a.close();
    b.close();
  }

  void deliver(Station& to, const Bytes& frame) { to.nic().ingress().deliver(1, frame, now); }

  void pass(nic::Nanos time) {
    now += time;
    for (Station* each : {&a, &b}) {
      for (int turn = 0; turn < 8 && each->nic().scheduler().pump(now); ++turn) {
      }
    }
  }

  // Until nothing is on its way and no timer runs: it must come to that.
  void finish() {
    for (int turn = 0; turn < 50'000; ++turn) {
      pass(kLatency);
      bool moved = false;
      for (Station* from : {&a, &b}) {
        std::deque<Bytes> frames;
        frames.swap(from->outbox);
        moved |= !frames.empty();
        for (const Bytes& frame : frames) deliver(peer(*from), frame);
      }
      a.poll();
      b.poll();
      if (moved || a.nic().scheduler().has_output() || b.nic().scheduler().has_output()) continue;
      const nic::Nanos next = std::min(a.nic().scheduler().next_deadline(), b.nic().scheduler().next_deadline());
      if (next == nic::kNever) return;
      now = std::max(now, next);
    }
    FUZZ_CHECK(!"the stations come to rest");
  }
};

Message plan(Input& input, ibv_qp_type type, std::size_t number) {
  static constexpr std::array reliable = {
      IBV_WR_SEND,          IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_READ,         IBV_WR_ATOMIC_FETCH_AND_ADD,
      IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_CMP_AND_SWP};
  static constexpr std::array unreliable = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                            IBV_WR_RDMA_WRITE_WITH_IMM};
  const std::uint8_t choice = input.byte();
  Message message;
  message.opcode = type == IBV_QPT_RC ? reliable[choice % reliable.size()]
                                      : unreliable[choice % (type == IBV_QPT_UD ? 2 : unreliable.size())];
  // Unreliable messages are known by their content: not too short for that.
  static constexpr std::uint32_t sizes[] = {256, 16, 255, 257, 512, 1000, 1024, 0};
  message.size = sizes[choice / 16 % (type == IBV_QPT_RC ? 8 : type == IBV_QPT_UD ? 3 : 7)];
  message.imm = 0xabcd00 + static_cast<std::uint32_t>(number);
  if (message.is_atomic()) {
    message.size = 8;
    message.operand = message.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 1 + choice : choice / 64;
  }
  return message;
}

Terms terms_of(Input& input, std::uint8_t choice) {
  static constexpr ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
  Terms terms;
  terms.type = types[choice & 3];
  terms.ipv6 = (choice & 4) != 0;
  terms.retry_cnt = choice >> 3 & 3;
  terms.rnr_retry = choice >> 5 & 3;
  for (std::uint32_t& psn : terms.psn) psn = (0xffffffu - 64 + input.byte()) & 0xffffff;  // near the wrap
  return terms;
}

void play(Network& network, Input& input, Adversary& adversary) {
  std::vector<Bytes> arriving;
  for (int i = 0; i < kMostSteps && !input.empty(); ++i) {
    const std::uint8_t choice = input.byte();
    Station& station = network.station(choice >> 7);
    switch (choice & 7) {
      case 0:
        station.post_next(network.peer(station));
        break;
      case 1:
        station.post_receive();
        break;
      case 2:
        network.pass(nic::Nanos{1} << (choice >> 3 & 15) << 8);  // up to 8 ms
        break;
      default:
        arriving.clear();
        adversary.act(station.outbox, arriving);
        for (const Bytes& frame : arriving) network.deliver(network.peer(station), frame);
    }
    network.pass(100);
    station.poll();
  }
}

// The network is honest now: everything that was not posted yet is posted, and ends.
void end(Network& network) {
  for (Station* station : {&network.a, &network.b}) {
    while (station->receives < kMessages) station->post_receive();
    while (station->posted < station->messages.size()) station->post_next(network.peer(*station));
  }
  network.finish();
}

void check_recovery(Network& network, Terms terms) {
  terms.retry_cnt = terms.rnr_retry = 3;
  network.connect(terms);
  for (Station* station : {&network.a, &network.b}) station->messages.push_back({IBV_WR_SEND, 256, 0});
  end(network);
  for (Station* station : {&network.a, &network.b}) {
    FUZZ_CHECK(station->sent.size() == 1 && station->sent[0].status == IBV_WC_SUCCESS);
    FUZZ_CHECK(station->received.size() == 1 && station->received[0].status == IBV_WC_SUCCESS);
  }
  network.close();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Network network;
  Input input(data, size);
  const bool forges = input.one_in(2);
  const Terms terms = terms_of(input, input.byte());
  network.connect(terms);
  for (Station* station : {&network.a, &network.b}) {
    const std::size_t count = input.below(kMessages + 1);
    for (std::size_t i = 0; i < count; ++i) station->messages.push_back(plan(input, terms.type, i));
  }
  Adversary adversary(input, forges);
  play(network, input, adversary);
  end(network);
  for (Station* station : {&network.a, &network.b}) {
    check_order(*station, terms.type);
    if (forges) continue;
    if (terms.type == IBV_QPT_RC) {
      check_reliable(*station, network.peer(*station));
    } else {
      check_unreliable(*station, network.peer(*station), terms.type == IBV_QPT_UD);
    }
  }
  network.close();
  check_recovery(network, terms);
  return 0;
}
