// Tables and rules: the order of actions, the destinations of frames, and dropped frames.
#include "steering/pipeline/pipeline.h"

#include <doctest/doctest.h>

#include "steering/actions/sampler.h"
#include "test/support/steering/named_fields.h"
#include "test/support/steering/random.h"
#include "test/support/steering/recorder.h"

namespace verbs::mlx5::steering::test {

namespace {

using Where = Recorder::Frame::Where;

FrameModel udp_frame() {
  FrameModel frame;
  frame.dmac = 0x0250'0000'0002;
  frame.smac = 0x0250'0000'0001;
  frame.ip.source = ipv4_address(0x0a000001);
  frame.ip.destination = ipv4_address(0x0a000002);
  frame.ip.protocol = 17;
  frame.l4 = L4::kUdp;
  frame.source_port = 1000;
  frame.destination_port = 2000;
  frame.payload = Bytes(58, 'a');
  return frame;  // 100 bytes
}

std::shared_ptr<const Reformat> reformat(ReformatType type, const Bytes& data = {}) {
  ReformatProblem problem{};
  auto created = Reformat::create(type, data, {}, &problem);
  REQUIRE(created != nullptr);
  return created;
}

std::shared_ptr<const Reformat> vxlan_encap() {
  return reformat(ReformatType::kL2ToL2Tunnel, TunnelModel{}.outer(0, 0, 0, false));
}

Action modify(std::uint16_t field, std::uint8_t length, std::uint32_t value) {
  ModifyProblem problem{};
  const Bytes entry = big_endian(0x10000000u | std::uint32_t{field} << 16 | length % 32u, 4) + big_endian(value, 4);
  return ModifyAction{ModifyHeader::create(entry, &problem)};
}

// A table in which every frame matches one rule.
std::shared_ptr<FlowTable> table_of(std::vector<Action> actions, std::uint32_t level = 0) {
  auto table = std::make_shared<FlowTable>(level);
  table->add_matcher(0, {}).add({}, ActionList(std::move(actions)));
  return table;
}

constexpr std::uint16_t kFirstVid = 0x17, kSmacLow = 2, kRegC1 = 0x52;

std::uint64_t count_of(const Pipeline& pipeline, DropReason reason) {
  return pipeline.drops()[static_cast<std::size_t>(reason)];
}

}  // namespace

TEST_CASE("a frame that matches no rule is dropped, sent or given to the e-switch's manager") {
  Pipeline pipeline;
  const FlowTable table;
  const Bytes frame = udp_frame().bytes();
  auto out = run(pipeline, table, Domain::kNicRx, frame);
  CHECK(out[0].where == Where::kDropped);
  CHECK(out[0].reason == DropReason::kMiss);
  CHECK(count_of(pipeline, DropReason::kMiss) == 1);
  CHECK(run(pipeline, table, Domain::kNicTx, frame)[0].where == Where::kWire);
  CHECK(run(pipeline, table, Domain::kFdb, frame)[0].where == Where::kVport);
  Recorder recorder;
  const FrameBuffer buffer(frame);
  Packet packet(buffer.frame());
  pipeline.run(nullptr, Domain::kNicTx, packet, recorder);
  CHECK(recorder.frames[0].bytes == frame);
}

TEST_CASE("actions are executed in their fixed order, whatever the array's") {
  Pipeline pipeline;
  FrameModel inner = udp_frame();
  inner.tags = {{0x8100, 5}};
  const Bytes tunnelled = TunnelModel{}.outer(0, 50000, inner.bytes().size(), true) + inner.bytes();
  const auto counter = std::make_shared<Counter>();
  int receiver = 0;
  std::vector<Action> actions = {
      Destination{ToReceiver{&receiver}},
      ReformatAction{vxlan_encap()},
      SetTag{0xff00beef},
      modify(kFirstVid, 12, 0xabc),
      PushVlan{0x88a80111},
      CountAction{counter},
      PopVlan{},
      ReformatAction{reformat(ReformatType::kL2TunnelToL2)},
  };
  Random random(9);
  FrameModel expected = inner;
  expected.tags = {{0x88a8, 0x0abc}};
  for (int round = 0; round < 50; ++round) {
    std::shuffle(actions.begin(), actions.end(), std::mt19937(random.any<std::uint32_t>()));
    *counter = {};
    const auto out = run(pipeline, *table_of(actions), Domain::kNicRx, tunnelled);
    REQUIRE(out.size() == 1);
    CHECK(out[0].receiver == &receiver);
    CHECK(out[0].flow_tag == 0x00beef);
    CHECK(counter->bytes == 100);  // after decapsulation and pop, before push and encapsulation
    CHECK(Bytes(out[0].bytes.begin() + 50, out[0].bytes.end()) == expected.bytes());
  }
}

TEST_CASE("VLAN tags: a pop without a tag does nothing, a push needs headroom") {
  Pipeline pipeline;
  FrameModel frame = udp_frame();
  CHECK(run(pipeline, *table_of({PopVlan{}}), Domain::kNicTx, frame.bytes())[0].bytes == frame.bytes());
  const auto push = table_of({PushVlan{0x81000001}, PushVlan{0x88a80002}});
  auto out = run(pipeline, *push, Domain::kNicTx, frame.bytes(), 8);
  frame.tags = {{0x88a8, 2}, {0x8100, 1}};
  CHECK(out[0].bytes == frame.bytes());
  out = run(pipeline, *push, Domain::kNicTx, udp_frame().bytes(), 7);
  CHECK(out[0].reason == DropReason::kNoHeadroom);
  CHECK(count_of(pipeline, DropReason::kNoHeadroom) == 1);
  CHECK(run(pipeline, *push, Domain::kNicTx, Bytes(13))[0].bytes == Bytes(13));
  const auto pop_twice = table_of({PopVlan{}, PopVlan{}});
  CHECK(run(pipeline, *pop_twice, Domain::kNicTx, frame.bytes())[0].bytes == udp_frame().bytes());
}

TEST_CASE(
    "a frame that an encapsulation or a tag makes too long for the port is dropped, if the port's limit is given") {
  Pipeline pipeline(PipelineOptions{150, 8, 0, 0});
  const auto encap = table_of({ReformatAction{vxlan_encap()}});
  Bytes frame = udp_frame().bytes();
  CHECK(run(pipeline, *encap, Domain::kNicTx, frame)[0].where == Where::kWire);
  frame.push_back(0);
  CHECK(run(pipeline, *encap, Domain::kNicTx, frame)[0].reason == DropReason::kMtu);
  CHECK(run(pipeline, *table_of({PushVlan{0x81000001}}), Domain::kNicTx, Bytes(148))[0].reason == DropReason::kMtu);
  CHECK(count_of(pipeline, DropReason::kMtu) == 2);
  pipeline.set_max_frame_size(0);
  CHECK(run(pipeline, *encap, Domain::kNicTx, frame)[0].where == Where::kWire);
}

TEST_CASE("reasons of reformat actions are counted") {
  Pipeline pipeline;
  const auto decap = table_of({ReformatAction{reformat(ReformatType::kL2TunnelToL2)}, Destination{ToReceiver{}}});
  CHECK(run(pipeline, *decap, Domain::kNicRx, udp_frame().bytes())[0].reason == DropReason::kNoTunnel);
  CHECK(count_of(pipeline, DropReason::kNoTunnel) == 1);
  CHECK(std::string(name_of(DropReason::kNoTunnel)) == "no_tunnel");
  CHECK(std::string(name_of(DropReason::kCopyLimit)) == "copy_limit");
}

TEST_CASE("a table's miss leads to the next table; a rule without destination ends like a miss") {
  Pipeline pipeline;
  auto second = table_of({modify(kSmacLow, 16, 7), Destination{ToReceiver{&pipeline}}});
  FlowTable first;
  first.set_miss_table(second);
  CHECK(run(pipeline, first, Domain::kNicRx, udp_frame().bytes())[0].receiver == &pipeline);
  CHECK(run(pipeline, *table_of({SetTag{1}}), Domain::kNicRx, udp_frame().bytes())[0].reason == DropReason::kMiss);
  CHECK(run(pipeline, *table_of({Destination{DefaultMiss{}}}), Domain::kNicTx, udp_frame().bytes())[0].where ==
        Where::kWire);
  CHECK(run(pipeline, *table_of({Destination{Drop{}}}), Domain::kNicTx, udp_frame().bytes())[0].reason ==
        DropReason::kAction);
  CHECK(run(pipeline, *table_of({Destination{ToTable{}}}), Domain::kNicTx, udp_frame().bytes())[0].where ==
        Where::kWire);
  CHECK(run(pipeline, *table_of({Destination{ToVport{3}}}), Domain::kFdb, udp_frame().bytes())[0].vport == 3);
  CHECK(run(pipeline, *table_of({Destination{ToWire{}}}), Domain::kNicRx, udp_frame().bytes())[0].where ==
        Where::kWire);
}

TEST_CASE("a table matches what the previous one changed: registers, and the inner headers after decapsulation") {
  Pipeline pipeline;
  const FrameModel inner = udp_frame();
  auto next = std::make_shared<FlowTable>(2);
  MatchWriter mask, value;
  mask.put("udp_dport", 0xffff);
  value.put("udp_dport", inner.destination_port);
  constexpr std::uint32_t kRegC1Bit = 0xc0 * 8 + 40 * 8;
  mask.put(kRegC1Bit, 32, Bytes(4, 0xff));
  value.put(kRegC1Bit, 32, big_endian(0xcafe, 4));
  Rule& rule = next->add_matcher(0, mask.bytes()).add(value.bytes(), ActionList({Destination{ToReceiver{&pipeline}}}));
  const auto first = table_of(
      {ReformatAction{reformat(ReformatType::kL2TunnelToL2)}, modify(kRegC1, 32, 0xcafe), Destination{ToTable{next}}});
  const Bytes tunnelled = TunnelModel{}.outer(0, 50000, inner.bytes().size(), true) + inner.bytes();
  const auto out = run(pipeline, *first, Domain::kNicRx, tunnelled);
  CHECK(out[0].receiver == &pipeline);
  CHECK(out[0].bytes == inner.bytes());
  CHECK(rule.hits() == 1);
}

TEST_CASE("tables that lead to each other end at the limit") {
  Pipeline pipeline(PipelineOptions{0, 10, 0, 0});
  auto one = std::make_shared<FlowTable>(), other = std::make_shared<FlowTable>();
  const auto counter = std::make_shared<Counter>();
  Rule& back = one->add_matcher(0, {}).add({}, ActionList({CountAction{counter}, Destination{ToTable{other}}}));
  other->add_matcher(0, {}).add({}, ActionList({Destination{ToTable{one}}}));
  const auto out = run(pipeline, *one, Domain::kNicRx, udp_frame().bytes());
  REQUIRE(out.size() == 1);
  CHECK(out[0].reason == DropReason::kHopLimit);
  CHECK(counter->packets == 5);
  back.set_actions({});  // otherwise the two would keep each other alive
}

TEST_CASE("an array gives each destination a copy of the frame") {
  Pipeline pipeline(PipelineOptions{0, 8, 2000, 2});
  int receivers[3] = {};
  auto array = std::make_shared<DestinationArray>();
  array->entries.push_back({nullptr, ToReceiver{&receivers[0]}});
  array->entries.push_back({vxlan_encap(), ToWire{}});
  array->entries.push_back(
      {nullptr, ToTable{table_of({modify(kSmacLow, 16, 0xffff), Destination{ToReceiver{&receivers[1]}}}, 1)}});
  array->entries.push_back({nullptr, ToReceiver{&receivers[2]}});
  const auto table = table_of({Destination{ToArray{array}}});
  const Bytes frame = udp_frame().bytes();
  auto out = run(pipeline, *table, Domain::kFdb, frame);
  REQUIRE(out.size() == 4);
  CHECK(out[0].receiver == &receivers[0]);
  CHECK(out[0].bytes == frame);
  CHECK(out[1].where == Where::kWire);
  CHECK(out[1].bytes.size() == frame.size() + 50);
  CHECK(out[2].receiver == &receivers[1]);
  CHECK(out[2].bytes != frame);
  CHECK(out[3].receiver == &receivers[2]);
  CHECK(out[3].bytes == frame);

  out = run(pipeline, *table, Domain::kFdb, frame + Bytes(2000));  // too large to copy
  REQUIRE(out.size() == 4);
  CHECK(out[1].reason == DropReason::kCopyLimit);
  CHECK(out[3].receiver == &receivers[2]);
}

TEST_CASE("copies of copies end at the limit, and all buffers are released") {
  Pipeline pipeline(PipelineOptions{0, 100, 2000, 2});
  int receiver = 0;
  std::shared_ptr<FlowTable> table = table_of({Destination{ToReceiver{&receiver}}});
  for (int depth = 0; depth < 4; ++depth) {
    auto array = std::make_shared<DestinationArray>();
    array->entries.push_back({nullptr, ToTable{table}});
    array->entries.push_back({nullptr, ToReceiver{&receiver}});
    table = table_of({Destination{ToArray{array}}});
  }
  for (int round = 0; round < 3; ++round) {
    const auto out = run(pipeline, *table, Domain::kNicRx, udp_frame().bytes());
    REQUIRE(out.size() == 4);
    CHECK(out[0].reason == DropReason::kCopyLimit);
    for (std::size_t i = 1; i < 4; ++i) CHECK(out[i].receiver == &receiver);
  }
}

TEST_CASE("a sampler copies one frame in N and forwards all") {
  Pipeline pipeline;
  int sampled = 0, all = 0;
  const auto next = table_of({Destination{ToReceiver{&all}}}, 1);
  const auto sampler = std::make_shared<Sampler>(
      4, std::vector<Action>{SetTag{9}, modify(kSmacLow, 16, 0xffff), Destination{ToReceiver{&sampled}}}, next);
  const auto table = table_of({Destination{ToSampler{sampler}}});
  int samples = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto out = run(pipeline, *table, Domain::kNicRx, udp_frame().bytes());
    CHECK(out.back().receiver == &all);
    CHECK(out.back().bytes == udp_frame().bytes());
    CHECK(out.back().flow_tag == 0);
    if (out.size() < 2) continue;
    ++samples;
    CHECK(out[0].receiver == &sampled);
    CHECK(out[0].flow_tag == 9);
  }
  CHECK(samples == 250);
}

TEST_CASE("a meter's colour and a first hit are written to a register that the next table matches") {
  Pipeline pipeline;
  MeterConfig config;
  config.unit = MeterConfig::Unit::kPackets;
  config.committed_rate = 1;
  config.committed_burst = 3;
  const auto flag = std::make_shared<bool>(false);
  const auto table = table_of(
      {modify(kRegC1, 32, 0xffffffff), MeterAction{std::make_shared<Meter>(config), 1}, FirstHitAction{flag, 2, true}});
  const auto registers = [&] { return run(pipeline, *table, Domain::kNicTx, udp_frame().bytes())[0].registers; };
  Registers first = registers();
  CHECK(first.c[1] == 0xffffff02);
  CHECK(first.c[2] == 0);
  CHECK(*flag);
  CHECK(registers().c[2] == 1);
  CHECK(registers().c[1] == 0xffffff02);
  CHECK(registers().c[1] == 0xffffff00);
}

TEST_CASE("a rule shares its actions: their use counts tell which are in use") {
  const auto encap = vxlan_encap();
  CHECK(encap.use_count() == 1);
  {
    const auto table = table_of({ReformatAction{encap}});
    CHECK(encap.use_count() == 2);
  }
  CHECK(encap.use_count() == 1);
}

}  // namespace verbs::mlx5::steering::test
