#include "steering/headers/entropy.h"

#include <doctest/doctest.h>

#include "steering/headers/parser.h"
#include "test/support/steering/header_model.h"

namespace verbs::mlx5::steering::test {

namespace {

EntropyInput input(const Bytes& destination, const Bytes& source, std::uint8_t protocol, std::uint16_t destination_port,
                   std::uint16_t source_port) {
  EntropyInput input;
  std::copy(destination.begin(), destination.end(), input.destination + 16 - destination.size());
  std::copy(source.begin(), source.end(), input.source + 16 - source.size());
  input.protocol = protocol;
  input.destination_port = destination_port;
  input.source_port = source_port;
  return input;
}

}  // namespace

TEST_CASE("the entropy of known connections") {
  struct Vector {
    EntropyInput input;
    std::uint16_t crc, port;
    std::uint8_t flow_id;
  };
  const Vector vectors[] = {
      {input({2, 2, 2, 2}, {1, 1, 1, 1}, 17, 5678, 1234), 0x969f, 54943, 0x9f},
      {input({10, 0, 0, 2}, {10, 0, 0, 1}, 6, 80, 40000), 0xd027, 53287, 0x27},
      {input(from_hex("20010db8000000000000000000000002"), from_hex("20010db8000000000000000000000001"), 17, 53, 53000),
       0xb141, 61761, 0x41},
      {EntropyInput{}, 0, 0xc000, 0},
  };
  for (const Vector& vector : vectors) {
    const std::uint16_t crc = entropy_crc(vector.input);
    CHECK(crc == vector.crc);
    CHECK(entropy_udp_port(crc) == vector.port);
    CHECK(entropy_flow_id(crc) == vector.flow_id);
  }
}

TEST_CASE("the checksum of single bytes: the source port's low byte is the last") {
  EntropyInput one, all;
  one.source_port = 1;
  all.source_port = 255;
  CHECK(entropy_crc(one) == 0x100b);
  CHECK(entropy_crc(all) == 0x0690);
}

TEST_CASE("source ports stay in the range") {
  CHECK(entropy_udp_port(0xffff, {0x8000, 0x8fff}) == 0x8fff);
  CHECK(entropy_udp_port(0x0001, {0x8000, 0x8fff}) == 0x8001);
}

TEST_CASE("a frame's entropy is that of its outermost packet") {
  FrameModel frame;
  frame.ip.source = ipv4_address(0x01010101);
  frame.ip.destination = ipv4_address(0x02020202);
  frame.ip.protocol = 17;
  frame.l4 = L4::kUdp;
  frame.source_port = 1234;
  frame.destination_port = 5678;
  const auto crc_of = [](const FrameModel& model) {
    const Bytes bytes = model.bytes();
    return entropy_crc(bytes.data(), parse(bytes.data(), static_cast<std::uint32_t>(bytes.size())));
  };
  CHECK(crc_of(frame) == 0x969f);
  frame.tags = {{0x88a8, 1}, {0x8100, 2}};
  CHECK(crc_of(frame) == 0x969f);

  SUBCASE("a fragment that is not the first has no ports") {
    frame.ip.fragment = 1;
    CHECK(crc_of(frame) == entropy_crc(input({2, 2, 2, 2}, {1, 1, 1, 1}, 17, 0, 0)));
  }
  SUBCASE("a frame that is not IP has none") {
    frame.is_ip = false;
    CHECK(crc_of(frame) == 0);
  }
}

}  // namespace verbs::mlx5::steering::test
