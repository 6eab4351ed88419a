#include "steering/actions/meter.h"

#include <doctest/doctest.h>

#include "steering/actions/sampler.h"
#include "steering/packet/packet.h"
#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

Colour colour(Meter& meter, std::uint64_t now_ns, std::uint32_t size = 1000) {
  const FrameBuffer buffer((Bytes(size)));
  return meter.colour(Packet(buffer.frame(), {}, now_ns));
}

MeterConfig config(std::uint64_t rate, std::uint64_t burst, std::uint64_t excess_rate = 0, std::uint64_t excess = 0) {
  MeterConfig config;
  config.unit = MeterConfig::Unit::kFrameBytes;
  config.committed_rate = rate;
  config.committed_burst = burst;
  config.excess_rate = excess_rate;
  config.excess_burst = excess;
  return config;
}

}  // namespace

TEST_CASE("a bucket gives its tokens and fills with time") {
  Meter meter(config(1000, 3000));
  CHECK(colour(meter, 5) == Colour::kGreen);
  CHECK(colour(meter, 5) == Colour::kGreen);
  CHECK(colour(meter, 5) == Colour::kGreen);
  CHECK(colour(meter, 5) == Colour::kRed);
  CHECK(colour(meter, 5 + kSecond - 1) == Colour::kRed);
  CHECK(colour(meter, 5 + kSecond) == Colour::kGreen);
  CHECK(colour(meter, 5 + kSecond) == Colour::kRed);
  CHECK(colour(meter, 4) == Colour::kRed);  // a clock that goes back adds no tokens
  for (int i = 0; i < 3; ++i) CHECK(colour(meter, 100 * kSecond) == Colour::kGreen);
  CHECK(colour(meter, 100 * kSecond) == Colour::kRed);
}

TEST_CASE("two rates: the excess bucket serves when the committed bucket is empty") {
  Meter meter(config(1000, 1000, 500, 1000));
  CHECK(colour(meter, 0) == Colour::kGreen);
  CHECK(colour(meter, 0) == Colour::kYellow);
  CHECK(colour(meter, 0) == Colour::kRed);
  CHECK(colour(meter, kSecond) == Colour::kGreen);
  CHECK(colour(meter, kSecond) == Colour::kRed);  // half of the tokens are there
  CHECK(colour(meter, 2 * kSecond) == Colour::kGreen);
  CHECK(colour(meter, 2 * kSecond) == Colour::kYellow);
}

TEST_CASE("the overflow of the committed bucket may fill the excess bucket") {
  MeterConfig single = config(1000, 1000, 0, 1000);
  single.bucket_overflow = true;
  Meter meter(single);
  CHECK(colour(meter, 0) == Colour::kGreen);
  CHECK(colour(meter, 0) == Colour::kYellow);
  CHECK(colour(meter, kSecond) == Colour::kGreen);
  CHECK(colour(meter, kSecond) == Colour::kRed);
  CHECK(colour(meter, 3 * kSecond) == Colour::kGreen);
  CHECK(colour(meter, 3 * kSecond) == Colour::kYellow);
}

TEST_CASE("green may need both buckets") {
  MeterConfig both = config(1000, 1000, 2000, 2000);
  both.both_buckets_on_green = true;
  Meter meter(both);
  CHECK(colour(meter, 0) == Colour::kGreen);
  CHECK(colour(meter, 0) == Colour::kYellow);
  CHECK(colour(meter, 0) == Colour::kRed);
}

TEST_CASE("the colour before the meter") {
  MeterConfig yellow = config(1000, 5000, 0, 1000);
  yellow.start_colour = Colour::kYellow;
  Meter meter(yellow);
  CHECK(colour(meter, 0) == Colour::kYellow);
  CHECK(colour(meter, 0) == Colour::kRed);
  yellow.start_colour = Colour::kRed;
  meter.configure(yellow);
  CHECK(colour(meter, 0) == Colour::kRed);
  yellow.valid = false;
  meter.configure(yellow);
  CHECK(colour(meter, 0) == Colour::kGreen);
}

TEST_CASE("units: bytes of the frame, of the packet, of the wire, and packets") {
  FrameModel frame;
  frame.ip.protocol = 253;
  frame.payload = Bytes(66);  // 100 bytes in all
  const FrameBuffer buffer(frame.bytes());
  const auto greens = [&](MeterConfig::Unit unit) {
    MeterConfig some = config(1, 860);
    some.unit = unit;
    Meter meter(some);
    int count = 0;
    while (meter.colour(Packet(buffer.frame())) == Colour::kGreen) ++count;
    return count;
  };
  CHECK(greens(MeterConfig::Unit::kFrameBytes) == 8);
  CHECK(greens(MeterConfig::Unit::kIpBytes) == 10);
  CHECK(greens(MeterConfig::Unit::kWireBytes) == 6);
  CHECK(greens(MeterConfig::Unit::kPackets) == 860);
}

TEST_CASE("parameters in the PRM's format") {
  // valid, bucket overflow, start green; committed rate 1 * 10^9 / 2^6
  Bytes parameters(32);
  parameters[0] = 0xe0;
  parameters[10] = 6;
  parameters[11] = 1;
  MeterConfig decoded = MeterConfig::decode(parameters);
  CHECK(decoded.valid);
  CHECK(decoded.bucket_overflow);
  CHECK(decoded.start_colour == Colour::kGreen);
  CHECK(decoded.committed_rate == 15'625'000);
  CHECK(decoded.committed_burst == 0);
  CHECK(decoded.unit == MeterConfig::Unit::kIpBytes);
  CHECK(Meter(decoded).config().committed_burst == 15'625);  // a millisecond's worth

  parameters = from_hex("8b000000 00000000 0a030014 00000000 1f01 0509") + Bytes(12);
  decoded = MeterConfig::decode(parameters);
  CHECK_FALSE(decoded.bucket_overflow);
  CHECK(decoded.both_buckets_on_green);
  CHECK(decoded.unit == MeterConfig::Unit::kPackets);
  CHECK(decoded.committed_burst == 3 << 10);
  CHECK(decoded.committed_rate == 20 * kSecond);
  CHECK(decoded.excess_burst == 1ull << 31);
  CHECK(decoded.excess_rate == 9 * kSecond / 32);
  CHECK_FALSE(MeterConfig::decode({}).valid);
}

TEST_CASE("a sampler samples one frame in N, the same ones for the same seed") {
  const auto sampled = [](std::uint32_t ratio, std::uint64_t seed) {
    Sampler sampler(ratio, {}, nullptr, seed);
    std::vector<int> numbers;
    for (int i = 0; i < 10'000; ++i) {
      if (sampler.sample()) numbers.push_back(i);
    }
    return numbers;
  };
  CHECK(sampled(1, 1).size() == 10'000);
  CHECK(sampled(0, 1).size() == 10'000);
  CHECK(sampled(2, 1).size() == 5000);
  const auto tenth = sampled(10, 1);
  REQUIRE(tenth.size() == 1000);
  std::array<int, 10> places{};
  for (std::size_t i = 0; i < tenth.size(); ++i) {
    CHECK(tenth[i] / 10 == static_cast<int>(i));  // one of each ten frames
    ++places[static_cast<std::size_t>(tenth[i] % 10)];
  }
  for (const int count : places) CHECK(count == doctest::Approx(100).epsilon(0.4));  // at any position
  CHECK(sampled(10, 1) == sampled(10, 1));
  CHECK(sampled(10, 1) != sampled(10, 2));
}

}  // namespace verbs::mlx5::steering::test
