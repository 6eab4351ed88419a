// 100,000 random frames, rules and lists of actions, compared with a model that computes the result from named fields.
#include <doctest/doctest.h>

#include "test/support/steering/modify_model.h"
#include "test/support/steering/named_fields.h"
#include "test/support/steering/random.h"
#include "test/support/steering/recorder.h"

namespace verbs::mlx5::steering::test {

namespace {

constexpr int kRounds = 100'000;

// The CRC of 37 bytes of addresses, protocol and ports, bit by bit.
std::uint16_t entropy_of(const FrameModel& f) {
  Bytes input(37);
  if (f.is_ip && f.tags.size() <= 2) {
    const bool has_ports = f.l4 == L4::kTcp || f.l4 == L4::kUdp;
    input = Bytes(f.ip.destination.begin(), f.ip.destination.end()) + Bytes(f.ip.source.begin(), f.ip.source.end()) +
            Bytes{f.ip.protocol} + big_endian(has_ports ? f.destination_port : 0, 2) +
            big_endian(has_ports ? f.source_port : 0, 2);
  }
  std::uint32_t crc = 0;
  for (std::size_t bit = 0; bit < input.size() * 8; ++bit) {
    const bool top = ((crc >> 15 & 1) ^ (input[bit / 8] >> (7 - bit % 8) & 1)) != 0;
    crc = (crc << 1 & 0xffff) ^ (top ? 0x100b : 0);
  }
  return static_cast<std::uint16_t>(crc);
}

// Masks and values of a few fields of the frame; in some rounds one bit differs from the frame's.
struct MatchPlan {
  MatchWriter mask, value;
  bool matches = true;

  MatchPlan(Random& random, const FrameModel& frame) {
    std::vector<bool> used(named_fields().size());
    for (std::uint32_t count = random.below(5); count > 0; --count) {
      const std::uint32_t index = random.below(static_cast<std::uint32_t>(named_fields().size()));
      if (used[index]) continue;
      used[index] = true;
      add(random, named_fields()[index], frame);
    }
  }

  void add(Random& random, const NamedField& field, const FrameModel& frame) {
    Bytes bits = field.value(frame), wanted(bits.size(), 0xff);
    if (random.one_in(3)) wanted = random.bytes(bits.size());
    if (field.width % 8 != 0) wanted[0] &= static_cast<std::uint8_t>((1 << field.width % 8) - 1);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] &= wanted[i];
    if (random.one_in(8)) {
      const std::uint32_t bit = random.below(field.width);
      const std::size_t at = bits.size() - 1 - bit / 8;
      bits[at] ^= static_cast<std::uint8_t>(wanted[at] & 1 << bit % 8);
      matches = matches && (wanted[at] >> bit % 8 & 1) == 0;
    }
    mask.put(field.bit, field.width, wanted);
    value.put(field.bit, field.width, bits);
  }
};

ModifyEntry random_entry(Random& random) {
  const auto any_field = [&] {
    return modify_fields()[random.below(static_cast<std::uint32_t>(modify_fields().size()))];
  };
  ModifyEntry entry;
  entry.type = static_cast<ModifyEntry::Type>(1 + random.below(3));
  entry.field = any_field();
  const int width = width_of(entry.field);
  entry.value = random.any<std::uint32_t>();
  entry.length = static_cast<std::uint8_t>(1 + random.below(static_cast<std::uint32_t>(width)));
  entry.offset = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(width - entry.length + 1)));
  if (entry.type == ModifyEntry::kCopy) {
    entry.to_field = any_field();
    const auto to_width = static_cast<std::uint8_t>(width_of(entry.to_field));
    entry.length = std::min(entry.length, to_width);
    entry.to_offset = static_cast<std::uint8_t>(random.below(to_width - entry.length + 1u));
  }
  return entry;
}

std::shared_ptr<const Reformat> reformat_of(ReformatType type, const Bytes& data) {
  ReformatProblem problem{};
  auto reformat = Reformat::create(type, data, {}, &problem);
  REQUIRE(reformat != nullptr);
  return reformat;
}

class Round {
 public:
  explicit Round(std::uint64_t seed) : random_(seed), before_(random_.frame()), after_(before_) {}

  void play() {
    const MatchPlan match(random_, before_);
    plan_transmission();
    std::shuffle(actions_.begin(), actions_.end(), std::mt19937(random_.any<std::uint32_t>()));
    FlowTable table;
    table.add_matcher(0, match.mask.bytes()).add(match.value.bytes(), ActionList(std::move(actions_)));
    const auto out = run(pipeline_, table, Domain::kNicTx, before_.bytes());
    REQUIRE(out.size() == 1);
    if (!match.matches) {
      CHECK(out[0].where == Recorder::Frame::kWire);
      CHECK(out[0].bytes == before_.bytes());
      CHECK(counter_->packets == 0);
      return;
    }
    check_transmitted(out[0]);
    if (out[0].where == Recorder::Frame::kWire && has_tunnel_) receive(out[0].bytes);
  }

 private:
  // Adds actions to the rule and applies them to the model. There may be two VLAN pushes or modify lists, which keep
  // their order.
  void plan_transmission() {
    if (random_.one_in(4)) {
      actions_.emplace_back(PopVlan{});
      if (!after_.tags.empty()) after_.tags.erase(after_.tags.begin());
    }
    actions_.emplace_back(CountAction{counter_});
    counted_ = after_.bytes().size();
    if (random_.one_in(4)) {
      const Tag tag = random_.tag();
      actions_.emplace_back(PushVlan{std::uint32_t{tag.tpid} << 16 | tag.tci});
      after_.tags.insert(after_.tags.begin(), tag);
    }
    if (random_.one_in(2)) plan_modification();
    tag_ = random_.any<std::uint32_t>() & 0xffffff;
    actions_.emplace_back(SetTag{tag_});
    if (!random_.one_in(4)) plan_tunnel();
  }

  void plan_modification() {
    Bytes entries;
    for (std::uint32_t count = 1 + random_.below(6); count > 0; --count) {
      const ModifyEntry entry = random_entry(random_);
      entries = entries + entry.bytes();
      apply(after_, registers_, entry);
    }
    ModifyProblem problem{};
    actions_.emplace_back(ModifyAction{ModifyHeader::create(entries, &problem)});
    REQUIRE(problem == ModifyProblem::kNone);
  }

  void plan_tunnel() {
    has_tunnel_ = true;
    tunnel_ = random_.tunnel();
    carried_ = tunnel_.carries_mac ? 0 : after_.is_ip ? after_.ip.version : 4;
    const auto type = tunnel_.carries_mac ? ReformatType::kL2ToL2Tunnel : ReformatType::kL2ToL3Tunnel;
    actions_.emplace_back(ReformatAction{reformat_of(type, tunnel_.outer(carried_, 0, 0, random_.one_in(2)))});
  }

  bool shows_ip() const { return after_.is_ip && after_.tags.size() <= 2; }

  Bytes expected_on_wire() {
    if (!has_tunnel_) return after_.bytes();
    const std::uint16_t crc = entropy_of(after_);
    const Bytes payload = tunnel_.carries_mac ? after_.bytes() : after_.packet_bytes();
    if (tunnel_.kind == TunnelKind::kNvgre && tunnel_.flow_id == 0) tunnel_.flow_id = static_cast<std::uint8_t>(crc);
    // A GRE header that looks like NVGRE's with the flow id left out.
    if (tunnel_.kind == TunnelKind::kGre && tunnel_.carries_mac && tunnel_.has_key && !tunnel_.has_checksum &&
        !tunnel_.has_sequence && (tunnel_.id & 0xff) == 0) {
      tunnel_.id |= crc & 0xff;
    }
    return tunnel_.outer(carried_, 0xc000 | crc, payload.size(), true) + payload;
  }

  void check_transmitted(const Recorder::Frame& out) {
    CHECK(counter_->packets == 1);
    CHECK(counter_->bytes == counted_);
    CHECK(out.flow_tag == tag_);
    for (std::size_t i = 0; i < 8; ++i) CHECK(out.registers.c[i] == registers_[i]);
    CHECK(out.registers.a == registers_[8]);
    CHECK(out.registers.b == registers_[9]);
    if (has_tunnel_ && !tunnel_.carries_mac && !shows_ip()) {
      CHECK(out.where == Recorder::Frame::kDropped);
      CHECK(out.reason == DropReason::kNotIp);
      return;
    }
    CHECK(out.where == Recorder::Frame::kWire);
    CHECK(to_hex(out.bytes) == to_hex(expected_on_wire()));
  }

  // Some fields of the inner packet, in the section of inner headers.
  void add_inner_fields(MatchWriter& mask, MatchWriter& value) {
    constexpr std::uint32_t kHeaderBits = 512, kInner = 1024;
    FrameModel inner = after_;
    if (!tunnel_.carries_mac) {
      inner.dmac = inner.smac = 0;
      inner.tags.clear();
    }
    if (inner.tags.size() > 2) return;  // the parser does not see headers after the second
    for (std::uint32_t count = random_.below(4); count > 0; --count) {
      const NamedField& field = named_fields()[random_.below(static_cast<std::uint32_t>(named_fields().size()))];
      if (field.bit >= kHeaderBits) continue;
      mask.put(kInner + field.bit, field.width, Bytes(16, 0xff));
      value.put(kInner + field.bit, field.width, field.value(inner));
    }
  }

  void receive(const Bytes& frame) {
    // The expected match: the outer destination address, and the tunnel's payload.
    MatchWriter mask, value;
    add_inner_fields(mask, value);
    const Address& address = tunnel_.ip.destination;
    mask.put(384, 128, Bytes(16, 0xff));
    value.put(384, 128, Bytes(address.begin(), address.end()));
    mask.put("ip_version", 15);
    value.put("ip_version", static_cast<std::uint64_t>(tunnel_.ip.version));
    const bool to_l2 = tunnel_.carries_mac && !random_.one_in(4);
    const Bytes mac = random_.bytes(random_.one_in(2) ? 14 : 18);
    const auto decap =
        to_l2 ? reformat_of(ReformatType::kL2TunnelToL2, {}) : reformat_of(ReformatType::kL3TunnelToL2, mac);
    int receiver = 0;
    FlowTable table;
    table.add_matcher(0, mask.bytes())
        .add(value.bytes(), ActionList({Destination{ToReceiver{&receiver}}, ReformatAction{decap}}));
    const auto out = run(pipeline_, table, Domain::kNicRx, frame);
    REQUIRE(out.size() == 1);
    if (!to_l2 && !shows_ip()) {
      CHECK(out[0].where == Recorder::Frame::kDropped);
      CHECK(out[0].reason == DropReason::kNoInnerIp);
      return;
    }
    CHECK(out[0].where == Recorder::Frame::kReceiver);
    CHECK(out[0].receiver == &receiver);
    CHECK(to_hex(out[0].bytes) == to_hex(to_l2 ? after_.bytes() : mac + after_.packet_bytes()));
    CHECK(out[0].tunnel_vni == expected_vni());
  }

  std::uint32_t expected_vni() const {
    switch (tunnel_.kind) {
      case TunnelKind::kVxlan:
      case TunnelKind::kVxlanGpe:
      case TunnelKind::kGeneve:
      case TunnelKind::kNvgre:
        return tunnel_.id & 0xffffff;
      case TunnelKind::kGre:  // with a key alone before a MAC header it is NVGRE
        return tunnel_.carries_mac && tunnel_.has_key && !tunnel_.has_checksum && !tunnel_.has_sequence
                   ? tunnel_.id >> 8
                   : 0;
      default:
        return 0;
    }
  }

  Random random_;
  FrameModel before_, after_;
  Pipeline pipeline_{PipelineOptions{0, 8, 0, 0}};
  std::vector<Action> actions_;
  std::shared_ptr<Counter> counter_ = std::make_shared<Counter>();
  std::size_t counted_ = 0;
  std::uint32_t tag_ = 0;
  RegisterModel registers_ = {};
  bool has_tunnel_ = false;
  int carried_ = 0;
  TunnelModel tunnel_;
};

}  // namespace

TEST_CASE("100,000 random frames and rules agree with the model of their headers") {
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) {
    CAPTURE(seed);
    Round(seed).play();
  }
}

}  // namespace verbs::mlx5::steering::test
