// The rules of a fault plan: which frames they are about, which of those they hit, and how they stand beside each
// other.
#include <doctest/doctest.h>

#include <algorithm>

#include "link/faults/fault_link.h"
#include "test/link/support/memory_link.h"
#include "wire/headers.h"
#include "wire/opcode.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

using Numbers = std::vector<std::uint32_t>;

wire::Bth bth_of(const Frame& frame) { return wire::Bth::parse(&frame[28]); }

// A frame whose PSN is `number`, so that sent() can name it.
Frame packet(std::uint32_t number, std::uint8_t opcode = 0x04, std::uint32_t qpn = 17, std::uint8_t syndrome = 0) {
  Frame frame = numbered_frame(number);
  wire::Bth bth = bth_of(frame);
  bth.opcode = opcode;
  bth.dest_qpn = qpn;
  bth.emit(&frame[28]);
  const wire::OpcodeInfo* info = wire::opcode_info(opcode);
  if (info != nullptr && info->has(wire::kHasAeth)) frame[28 + info->aeth] = syndrome;
  return frame;
}

struct RuleBench {
  MemoryLink cable;
  FaultLink faults{cable};

  explicit RuleBench(std::vector<FaultRule> rules, std::uint64_t seed = 1) {
    FaultPlan plan;
    plan.seed = seed;
    plan.rules = std::move(rules);
    faults.set_plan(plan);
  }

  void send_frame(const Frame& frame) {
    send(faults, frame);
    faults.flush();
  }
  void send_numbers(std::uint32_t count, std::uint32_t first = 0) {
    for (std::uint32_t i = 0; i < count; ++i) send_frame(packet((first + i) & 0xffffff));
  }
  Numbers sent() const {
    Numbers psns;
    for (const Frame& frame : cable.sent) psns.push_back(bth_of(frame).psn);
    return psns;
  }
  Numbers lost(std::uint32_t count) const {
    const Numbers there = sent();
    Numbers missing;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (std::find(there.begin(), there.end(), i) == there.end()) missing.push_back(i);
    }
    return missing;
  }
};

FaultRule drop() {
  FaultRule rule;
  rule.drop = 1;
  return rule;
}

}  // namespace

TEST_CASE("the nth matching frame, N frames from there on, or every Nth") {
  struct Case {
    std::uint64_t nth, every, count;
    Numbers lost;  // of twelve; the first is number 0
  };
  const Case cases[] = {
      {3, 0, 0, {2}},    {3, 0, 2, {2, 3}},    {0, 4, 0, {3, 7, 11}}, {2, 4, 0, {1, 5, 9}},
      {2, 4, 2, {1, 5}}, {0, 0, 3, {0, 1, 2}}, {13, 0, 0, {}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.nth);
    CAPTURE(one.every);
    CAPTURE(one.count);
    FaultRule rule = drop();
    rule.nth = one.nth;
    rule.every = one.every;
    rule.count = one.count;
    RuleBench bench({rule});
    bench.send_numbers(12);
    CHECK(bench.lost(12) == one.lost);
    CHECK(bench.faults.rule_counters().at(1).matched == 12);
    CHECK(bench.faults.rule_counters().at(1).hits == one.lost.size());
  }
}

TEST_CASE("count is how often something happened, not how often it could have") {
  FaultRule rule = drop();
  rule.drop = 0.2;
  rule.count = 5;
  RuleBench bench({rule});
  bench.send_numbers(200);
  CHECK(bench.sent().size() == 195);
  CHECK(bench.lost(200).back() > 5);
}

TEST_CASE("a rule is about the opcodes, the queue pair and the sequence numbers that it names") {
  SUBCASE("opcode") {
    FaultRule rule = drop();
    rule.opcodes.emplace();
    REQUIRE(add_opcodes("rc_send_only", &*rule.opcodes));
    RuleBench bench({rule});
    bench.send_frame(packet(0, 0x04));
    bench.send_frame(packet(1, 0x05));
    bench.send_frame(packet(2, 0x0a));
    CHECK(bench.sent() == Numbers{1, 2});
  }
  SUBCASE("queue pair") {
    FaultRule rule = drop();
    rule.qpn = 18;
    RuleBench bench({rule});
    bench.send_frame(packet(0, 0x04, 17));
    bench.send_frame(packet(1, 0x04, 18));
    CHECK(bench.sent() == Numbers{0});
  }
  SUBCASE("sequence numbers, across their wrap") {
    FaultRule rule = drop();
    rule.psn = PsnRange{0xfffffe, 1};
    RuleBench bench({rule});
    bench.send_numbers(6, 0xfffffd);
    CHECK(bench.sent() == Numbers{0xfffffd, 2});
  }
  SUBCASE("acknowledgements of a kind") {
    FaultRule rule = drop();
    rule.aeth = AethKind::kNak;
    RuleBench bench({rule});
    bench.send_frame(packet(0, 0x11, 17, 0x1f));
    bench.send_frame(packet(1, 0x11, 17, 0x60));
    bench.send_frame(packet(2, 0x11, 17, 0x2c));
    bench.send_frame(packet(3, 0x04));
    CHECK(bench.sent() == Numbers{0, 2, 3});
  }
  SUBCASE("everything at once") {
    FaultRule rule = drop();
    rule.qpn = 18;
    rule.psn = PsnRange{5, 9};
    rule.nth = 2;
    RuleBench bench({rule});
    for (std::uint32_t i = 0; i < 20; ++i) bench.send_frame(packet(i, 0x04, 17 + i % 2));
    CHECK(bench.lost(20) == Numbers{7});
  }
  SUBCASE("what is no packet for a NIC matches only a rule that asks for nothing") {
    FaultRule picky = drop();
    picky.qpn = 17;
    Frame other = packet(0);
    other[23] ^= 1;  // the UDP port
    RuleBench bench({picky});
    bench.send_frame(other);
    bench.send_frame(Frame(5));
    CHECK(bench.cable.sent.size() == 2);
    RuleBench all({drop()});
    all.send_frame(other);
    all.send_frame(Frame(5));
    CHECK(all.cable.sent.empty());
  }
}

TEST_CASE("opcodes by name") {
  const auto count = [](std::string_view name) {
    OpcodeSet set;
    return add_opcodes(name, &set) ? set.count() : 0;
  };
  CHECK(count("RC SEND Only") == 1);
  CHECK(count("rc-rdma-write-only") == 1);
  CHECK(count("rc_write_only") == 1);
  CHECK(count("rc_read_response") == 4);
  CHECK(count("ud") == 2);
  CHECK(count("rc_send") == 8);
  CHECK(count("rc_sen") == 0);
  CHECK(count("no_such") == 0);
  CHECK(count("") == 0);
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const wire::OpcodeInfo* info = wire::opcode_info(static_cast<std::uint8_t>(opcode));
    if (info == nullptr) continue;
    OpcodeSet set;
    CHECK(add_opcodes(info->name, &set));
    CHECK(set.count() == 1);
    CHECK(set.test(opcode));
  }
}

TEST_CASE("every rule decides about every frame, and all effects apply") {
  FaultRule third = drop();
  third.nth = 3;
  FaultRule twice;
  twice.duplicate = 1;
  twice.every = 3;
  FaultRule late;
  late.delay = 100;
  late.nth = 6;
  RuleBench bench({third, twice, late});
  bench.send_numbers(6);
  // The third is dropped although another rule duplicates it; the sixth is duplicated and delayed.
  CHECK(bench.sent() == Numbers{0, 1, 3, 4});
  bench.faults.advance(100);
  CHECK(bench.sent() == Numbers{0, 1, 3, 4, 5, 5});
  CHECK(bench.faults.rule_counters().at(2).hits == 2);
}

TEST_CASE("a rule's decisions are its own: another rule beside it changes nothing") {
  const auto lost = [](std::vector<FaultRule> rules) {
    RuleBench bench(std::move(rules), 99);
    bench.send_numbers(300);
    return bench.lost(300);
  };
  FaultRule random;
  random.drop = 0.1;
  FaultRule doubled;
  doubled.duplicate = 0.5;
  FaultRule half = drop();
  half.probability = 0.5;
  const Numbers alone = lost({random});
  CHECK(alone.size() > 10);
  CHECK(lost({random, doubled}) == alone);
  CHECK(lost({random}) == alone);
  CHECK(lost({doubled, random}) != alone);  // its place in the plan gives it its numbers
  const std::size_t halved = lost({half}).size();
  CHECK(halved > 110);
  CHECK(halved < 190);
}

TEST_CASE("a rule has its direction") {
  FaultRule out = drop();
  out.nth = 1;
  FaultRule in = drop();
  in.nth = 2;
  in.direction = FaultDirection::kIngress;
  RuleBench bench({out, in});
  bench.send_numbers(3);
  CHECK(bench.sent() == Numbers{1, 2});
  Collector collector;
  bench.cable.arriving = {packet(0), packet(1), packet(2)};
  bench.faults.receive(collector, 8);
  REQUIRE(collector.frames.size() == 2);
  CHECK(number_of(collector.frames[1]) == 2);
  CHECK(bench.faults.egress_counters().dropped == 1);
  CHECK(bench.faults.ingress_counters().dropped == 1);
  CHECK(bench.faults.rule_counters().at(1).matched == 3);
}

TEST_CASE("a limited rate spaces the frames, and its queue is finite") {
  const std::size_t size = packet(0).size();
  FaultRule slow;
  SUBCASE("bytes") { slow.bytes_per_second = size * 1000; }
  SUBCASE("packets") { slow.packets_per_second = 1000; }
  RuleBench bench({slow});
  bench.faults.advance(5'000'000);
  bench.send_numbers(3);
  CHECK(bench.cable.sent.empty());
  for (std::uint32_t i = 1; i <= 3; ++i) {
    const Nanos due = 5'000'000 + Nanos{i} * 1'000'000;
    CHECK(bench.faults.next_deadline() == due);
    bench.faults.advance(due - 1);
    CHECK(bench.cable.sent.size() == i - 1);
    bench.faults.advance(due);
    CHECK(bench.cable.sent.size() == i);
  }
  // An idle link has nothing saved up.
  bench.faults.advance(50'000'000);
  bench.send_numbers(2);
  CHECK(bench.faults.next_deadline() == 51'000'000);
  bench.faults.advance(60'000'000);
  bench.send_numbers(1030);
  CHECK(bench.faults.egress_counters().overflow == 6);
}
