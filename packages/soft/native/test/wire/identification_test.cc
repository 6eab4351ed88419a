#include "wire/identification.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"

using namespace verbs::soft::wire;

namespace {

using Frame = std::vector<std::uint8_t>;

// As a peer sends it: sealed with its identification.
Frame sent_frame(std::uint16_t identification, std::size_t payload, std::mt19937& random) {
  const std::uint8_t from[4] = {10, 0, 0, 1}, to[4] = {10, 0, 0, 2};
  Path path;
  path.sgid = Gid::from_ipv4(from);
  path.dgid = Gid::from_ipv4(to);
  path.source_port = static_cast<std::uint16_t>(random());
  path.traffic_class = static_cast<std::uint8_t>(random());
  Frame frame(kIpv4Size + kUdpSize + Bth::kSize + payload + kIcrcSize);
  for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(random());
  write_network(frame.data(), path, Bth::kSize + payload + kIcrcSize);
  set_identification(frame, identification);
  seal_icrc(frame);
  return frame;
}

}  // namespace

TEST_CASE("the identification of a frame follows from its ICRC") {
  std::mt19937 random(7);
  for (std::size_t payload = 0; payload <= 4096; payload += 4) {
    const auto identification = static_cast<std::uint16_t>(random());
    const Frame sent = sent_frame(identification, payload, random);
    Frame received = sent;
    set_identification(received, 0);
    CAPTURE(payload);
    REQUIRE(solve_identification(received) == identification);
    set_identification(received, identification);
    CHECK(received == sent);
    CHECK(check_icrc(received));
  }
}

// As Scapy builds them (IP, UDP, BTH), ICRC included.
TEST_CASE("packets of another implementation have their identifications") {
  struct Golden {
    std::uint16_t identification;
    const char* hex;
  };
  constexpr Golden kGolden[] = {
      {0x2f4d,
       "450000342f4d40004011f3630a0102030a010204c7e712b7002000000400ffff0000001100000005636f756e7465642181738819"},
      {0x0001,
       "4500003400014000401122b00a0102030a010204c7e712b7002000000400ffff0000001100000005636f756e74656421d482f457"},
      {0xff00,
       "45000034ff004000401123b00a0102030a010204c7e712b7002000000400ffff0000001100000005636f756e7465642167ccde82"},
  };
  for (const Golden& golden : kGolden) {
    Frame frame;
    for (const char* at = golden.hex; *at != '\0'; at += 2) {
      frame.push_back(static_cast<std::uint8_t>(std::stoi(std::string(at, 2), nullptr, 16)));
    }
    const Frame sent = frame;
    set_identification(frame, 0);
    CHECK(solve_identification(frame) == golden.identification);
    set_identification(frame, golden.identification);
    CHECK(frame == sent);
  }
}

TEST_CASE("every identification is found") {
  std::mt19937 random(8);
  for (std::uint32_t identification = 0; identification <= 0xffff; ++identification) {
    Frame frame = sent_frame(static_cast<std::uint16_t>(identification), 64, random);
    set_identification(frame, 0);
    REQUIRE(solve_identification(frame) == identification);
  }
}

TEST_CASE("damage fits an identification about once in 65,536") {
  std::mt19937 random(9);
  int fits = 0;
  constexpr int kFrames = 400'000;
  Frame frame = sent_frame(0x1234, 32, random);
  set_identification(frame, 0);
  for (int i = 0; i < kFrames; ++i) {
    Frame damaged = frame;
    for (int bits = 0; bits < 6; ++bits) {
      damaged[kIpv4Size + kUdpSize + random() % (damaged.size() - kIpv4Size - kUdpSize)] ^=
          static_cast<std::uint8_t>(1u << random() % 8);
    }
    if (damaged != frame) fits += solve_identification(damaged).has_value();
  }
  MESSAGE("fitted ", fits, " of ", kFrames);
  CHECK(fits < kFrames / 65'536 * 4 + 8);
}

TEST_CASE("frames of no whole words, too short or too long have no solution") {
  std::mt19937 random(10);
  for (const std::size_t size : {std::size_t{28}, std::size_t{40}, std::size_t{43}, std::size_t{45}, std::size_t{46},
                                 std::size_t{47}, kMaxFrame, kMaxFrame + 4}) {
    Frame frame(size);
    for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(random());
    frame[0] = 0x45;
    CAPTURE(size);
    CHECK(solve_identification(frame) == std::nullopt);
  }
}
