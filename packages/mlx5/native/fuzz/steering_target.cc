// Runs frames of any bytes through tables with any masks, values and actions. Nothing is read or written outside of the
// frame's buffer, every frame reaches a sink, and decapsulation removes every encapsulation that fits.
#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "steering/actions/sampler.h"
#include "steering/pipeline/pipeline.h"

using namespace verbs::mlx5::steering;
using verbs::soft::fuzz::Input;

namespace {

// In a buffer of exactly its size and headroom, so that a sanitizer detects accesses beyond.
struct Buffer {
  Buffer(std::span<const std::uint8_t> bytes, std::uint32_t headroom)
      : memory(headroom + bytes.size()),
        frame{memory.data() + headroom, static_cast<std::uint32_t>(bytes.size()), headroom, 0} {
    std::copy(bytes.begin(), bytes.end(), frame.data);
  }
  std::vector<std::uint8_t> memory;
  Frame frame;
};

class Outcome : public Sink {
 public:
  void to_receiver(void*, const Packet& packet) override { add(packet); }
  void to_wire(const Packet& packet) override { add(packet); }
  void to_vport(std::uint32_t, const Packet& packet) override { add(packet); }
  void dropped(DropReason reason, const Packet& packet) override {
    FUZZ_CHECK(reason < DropReason::kCount && name_of(reason) != nullptr);
    add(packet);
  }
  int frames = 0;
  std::uint8_t sum = 0;  // reads every byte

 private:
  void add(const Packet& packet) {
    ++frames;
    for (std::uint32_t i = 0; i < packet.frame().size; ++i) {
      sum = static_cast<std::uint8_t>(sum + packet.frame().data[i]);
    }
    packet.layers();
  }
};

std::shared_ptr<const Reformat> any_reformat(Input& input) {
  const auto type = static_cast<ReformatType>(input.below(4));
  ReformatProblem problem{};
  const auto data = input.bytes(type == ReformatType::kL2TunnelToL2 ? 0 : input.below(131));
  auto created = Reformat::create(type, data, {}, &problem);
  FUZZ_CHECK((created != nullptr) == (problem == ReformatProblem::kNone));
  return created;
}

Destination any_destination(Input& input, const std::shared_ptr<FlowTable>& next) {
  switch (input.below(6)) {
    case 0:
      return ToReceiver{};
    case 1:
      return ToTable{next};
    case 2:
      return ToWire{};
    case 3: {
      auto array = std::make_shared<DestinationArray>();
      for (std::size_t count = input.below(4); count > 0; --count) {
        array->entries.push_back({input.one_in(2) ? any_reformat(input) : nullptr, ToTable{next}});
      }
      if (array->entries.empty()) return Drop{};
      return ToArray{array};
    }
    case 4:
      return ToSampler{std::make_shared<Sampler>(2, std::vector<Action>{PopVlan{}}, next, input.byte())};
    default:
      return DefaultMiss{};
  }
}

Action any_action(Input& input, const std::shared_ptr<FlowTable>& next) {
  switch (input.below(8)) {
    case 0:
    case 1:
      if (auto reformat = any_reformat(input)) return ReformatAction{std::move(reformat)};
      return PopVlan{};
    case 2: {
      ModifyProblem problem{};
      if (auto modify = ModifyHeader::create(input.bytes(8 * (1 + input.below(6))), &problem)) {
        return ModifyAction{std::move(modify)};
      }
      return SetTag{input.take<std::uint32_t>()};
    }
    case 3:
      return PushVlan{input.take<std::uint32_t>()};
    case 4:
      return PopVlan{};
    case 5:
      return CountAction{std::make_shared<Counter>()};
    case 6:
      return MeterAction{std::make_shared<Meter>(MeterConfig::decode(input.bytes(20))), input.byte()};
    default:
      return any_destination(input, next);
  }
}

// Rules of which many match: their values are subsets of the mask's bits, mostly empty.
void fill(FlowTable& table, Input& input, const std::shared_ptr<FlowTable>& next) {
  for (std::size_t matchers = 1 + input.below(3); matchers > 0; --matchers) {
    std::vector<std::uint8_t> mask(kMatchSize);
    for (std::size_t bits = input.below(4); bits > 0; --bits) {
      mask[input.take<std::uint16_t>() % kMatchSize] = input.byte();
    }
    Matcher& matcher = table.add_matcher(input.byte(), mask);
    std::vector<Action> actions;
    for (std::size_t count = input.below(6); count > 0; --count) actions.push_back(any_action(input, next));
    std::vector<std::uint8_t> value(kMatchSize);
    if (input.one_in(2)) value = mask;
    FUZZ_CHECK(!matcher.is_outside_mask(value));
    Rule& rule = matcher.add(value, ActionList(std::move(actions)));
    FUZZ_CHECK(matcher.find(value) == &rule);
    if (input.one_in(8)) matcher.remove(rule);
  }
}

void check_round_trip(std::span<const std::uint8_t> bytes) {
  static const std::uint8_t kHeader[] = {2, 0, 0,    0,    0, 4,  2,  0, 0, 0, 0, 3, 8, 0, 0x45, 0, 0,
                                         0, 0, 0,    0x40, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2,    2, 2,
                                         0, 0, 0x12, 0xb5, 0, 0,  0,  0, 8, 0, 0, 0, 0, 0, 42,   0};
  ReformatProblem problem{};
  const auto encap = Reformat::create(ReformatType::kL2ToL2Tunnel, kHeader, {}, &problem);
  const auto decap = Reformat::create(ReformatType::kL2TunnelToL2, {}, {}, &problem);
  const Buffer buffer(bytes, sizeof kHeader);
  Packet packet(buffer.frame);
  FUZZ_CHECK(!encap->apply(packet).has_value());
  const auto reason = decap->apply(packet);
  FUZZ_CHECK(reason.has_value() == (bytes.size() < 14));
  if (reason) return;
  FUZZ_CHECK(packet.frame().size == bytes.size() && packet.tunnel_vni == 42);
  FUZZ_CHECK(std::equal(bytes.begin(), bytes.end(), packet.frame().data));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto frame = input.bytes(input.take<std::uint16_t>() % 400);
  check_round_trip(frame);
  const auto last = std::make_shared<FlowTable>(2);
  const auto first = std::make_shared<FlowTable>(1);
  fill(*last, input, nullptr);
  fill(*first, input, last);
  Pipeline pipeline(PipelineOptions{input.one_in(2) ? 1500u : 0u, 16, 1024, 3});
  pipeline.set_geneve_option({input.one_in(2), input.take<std::uint16_t>(), input.byte()});
  const Buffer buffer(frame, static_cast<std::uint32_t>(input.below(200)));
  Packet packet(buffer.frame, {input.byte(), 1, 2, 3}, input.take<std::uint32_t>());
  Outcome outcome;
  pipeline.run(first.get(), static_cast<Domain>(input.below(3)), packet, outcome);
  FUZZ_CHECK(outcome.frames > 0);
  return 0;
}
