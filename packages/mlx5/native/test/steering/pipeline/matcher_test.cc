// Matchers and tables as containers: many rules, their removal, equal values, and priorities.
#include "steering/pipeline/matcher.h"

#include <doctest/doctest.h>

#include <map>

#include "steering/pipeline/pipeline.h"
#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

namespace {

constexpr std::size_t kUdpPortAt = 30;

Bytes value_of_port(std::uint16_t port) { return Bytes(kUdpPortAt) + big_endian(port, 2); }

FrameModel frame_to(std::uint16_t port) {
  FrameModel frame;
  frame.ip.protocol = 17;
  frame.l4 = L4::kUdp;
  frame.destination_port = port;
  return frame;
}

const Rule* look_up(const FlowTable& table, const Bytes& frame) {
  const FrameBuffer buffer(frame);
  Packet packet(buffer.frame());
  return table.look_up(packet, {});
}

}  // namespace

TEST_CASE("thousands of rules are added, removed and found") {
  Random random(5);
  FlowTable table;
  Matcher& matcher = table.add_matcher(0, value_of_port(0xffff));
  std::map<std::uint16_t, Rule*> rules;
  for (int step = 0; step < 30'000; ++step) {
    const auto port = static_cast<std::uint16_t>(random.below(6000));
    const auto known = rules.find(port);
    CHECK(matcher.find(value_of_port(port)) == (known == rules.end() ? nullptr : known->second));
    if (known == rules.end()) {
      rules[port] = &matcher.add(value_of_port(port), {});
    } else if (random.one_in(2)) {
      matcher.remove(*known->second);
      rules.erase(known);
    }
    if (step % 50 == 0) {
      const auto found = rules.find(port);
      CHECK(look_up(table, frame_to(port).bytes()) == (found == rules.end() ? nullptr : found->second));
    }
  }
  CHECK(matcher.rules() == rules.size());
  CHECK(table.rules() == rules.size());
}

TEST_CASE("of rules with the same value the oldest is active, then the next") {
  FlowTable table;
  Matcher& matcher = table.add_matcher(0, value_of_port(0xffff));
  Rule& first = matcher.add(value_of_port(7), {});
  Rule& second = matcher.add(value_of_port(7), {});
  Rule& third = matcher.add(value_of_port(7), {});
  const Bytes frame = frame_to(7).bytes();
  CHECK(look_up(table, frame) == &first);
  matcher.remove(second);
  CHECK(look_up(table, frame) == &first);
  matcher.remove(first);
  CHECK(look_up(table, frame) == &third);
  CHECK(matcher.rules() == 1);
  matcher.remove(third);
  CHECK(look_up(table, frame) == nullptr);
  CHECK(matcher.rules() == 0);
}

TEST_CASE("bits outside of the mask are ignored, and can be detected") {
  FlowTable table;
  Matcher& matcher = table.add_matcher(0, value_of_port(0x00ff));
  CHECK_FALSE(matcher.is_outside_mask(value_of_port(0x0007)));
  CHECK(matcher.is_outside_mask(value_of_port(0x0107)));
  CHECK(matcher.is_outside_mask(Bytes(700, 1)));
  CHECK_FALSE(matcher.is_outside_mask(Bytes(700)));
  const Rule& rule = matcher.add(value_of_port(0x0107), {});
  CHECK(matcher.find(value_of_port(0x0207)) == &rule);
  CHECK(look_up(table, frame_to(0xff07).bytes()) == &rule);
  CHECK(look_up(table, frame_to(0xff08).bytes()) == nullptr);
}

TEST_CASE("an empty mask matches every frame, a mask of unparsed fields none") {
  FlowTable table;
  Matcher& beyond = table.add_matcher(0, Bytes(639) + Bytes(1, 1));
  beyond.add(Bytes(639) + Bytes(1, 1), {});
  CHECK(look_up(table, frame_to(1).bytes()) == nullptr);
  Matcher& all = table.add_matcher(1, {});
  const Rule& rule = all.add({}, {});
  CHECK(look_up(table, frame_to(1).bytes()) == &rule);
  CHECK(look_up(table, {}) == &rule);
}

TEST_CASE("a lower priority number matches first, then the older matcher") {
  FlowTable table;
  Matcher& late = table.add_matcher(5, value_of_port(0xffff));
  Matcher& same = table.add_matcher(5, value_of_port(0x00ff));
  Matcher& early = table.add_matcher(2, value_of_port(0xff00));
  const Rule& late_rule = late.add(value_of_port(0x1234), {});
  const Rule& same_rule = same.add(value_of_port(0x0034), {});
  const Rule& early_rule = early.add(value_of_port(0x1200), {});
  const Bytes frame = frame_to(0x1234).bytes();
  CHECK(look_up(table, frame) == &early_rule);
  CHECK(table.find_matcher(5, value_of_port(0x00ff)) == &same);
  CHECK(table.find_matcher(5, value_of_port(0x00ff) + Bytes(100)) == &same);
  CHECK(table.find_matcher(4, value_of_port(0x00ff)) == nullptr);
  CHECK(table.find_matcher(5, {}) == nullptr);
  table.remove_matcher(early);
  CHECK(look_up(table, frame) == &late_rule);
  table.remove_matcher(late);
  CHECK(look_up(table, frame) == &same_rule);
  CHECK(table.matchers() == 1);
}

TEST_CASE("root tables are chained by priority, in any order of creation") {
  RootTables roots;
  CHECK(roots.first() == nullptr);
  const auto multicast = roots.table(RootTables::kMulticastPriority);
  CHECK(roots.first() == multicast.get());
  const auto seventh = roots.table(7);
  const auto first = roots.table(0);
  const auto third = roots.table(3);
  CHECK(roots.table(3) == third);
  CHECK(roots.first() == first.get());
  CHECK(first->miss_table() == third);
  CHECK(third->miss_table() == seventh);
  CHECK(seventh->miss_table() == multicast);
  CHECK(multicast->miss_table() == nullptr);
}

TEST_CASE("matching on checksums") {
  FlowTable table;
  Bytes good(27);  // l4_checksum_ok is the lowest bit of byte 26
  good[26] = 1;
  const Rule& rule = table.add_matcher(0, good).add(good, {});
  FrameModel frame = frame_to(5);
  frame.payload = Bytes(33, 'x');
  CHECK(look_up(table, frame.bytes()) == &rule);
  Bytes broken = frame.bytes();
  broken.back() ^= 1;
  CHECK(look_up(table, broken) == nullptr);
}

}  // namespace verbs::mlx5::steering::test
