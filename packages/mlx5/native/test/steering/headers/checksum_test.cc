#include "steering/headers/checksum.h"

#include <doctest/doctest.h>

#include "steering/headers/parser.h"
#include "test/support/steering/random.h"

namespace verbs::mlx5::steering::test {

TEST_CASE("sums of every length equal those computed byte by byte, in one piece or two") {
  Random random(13);
  for (std::uint32_t size = 0; size < 600; ++size) {
    const Bytes bytes = random.one_in(8) ? Bytes(size, 0xff) : random.bytes(size);
    const std::uint16_t expected = internet_checksum(bytes);
    const std::uint32_t cut = size / 2 & ~1u;
    const std::uint64_t sum = checksum_add(checksum_add(0, bytes.data(), cut), bytes.data() + cut, size - cut);
    CHECK(static_cast<std::uint16_t>(~checksum_fold(sum)) == expected);
    CHECK(static_cast<std::uint16_t>(~checksum_fold(checksum_add(0, bytes.data(), size))) == expected);
  }
}

TEST_CASE("a checksum is updated with a word, for all old and new values") {
  Random random(17);
  for (int round = 0; round < 5000; ++round) {
    Bytes bytes = random.bytes(20);
    const std::uint16_t before = internet_checksum(bytes);
    const auto old_word = static_cast<std::uint16_t>(bytes[6] << 8 | bytes[7]);
    const auto new_word = random.one_in(3)   ? std::uint16_t{0}
                          : random.one_in(2) ? std::uint16_t{0xffff}
                                             : random.any<std::uint16_t>();
    bytes[6] = static_cast<std::uint8_t>(new_word >> 8);
    bytes[7] = static_cast<std::uint8_t>(new_word);
    CHECK(checksum_update(before, old_word, new_word) == internet_checksum(bytes));
  }
}

TEST_CASE("the checksum state of a received packet: correct checksums, and any flipped bit") {
  Random random(19);
  const auto state_of = [](const Bytes& frame) {
    const Layers layers = parse(frame.data(), static_cast<std::uint32_t>(frame.size()));
    return check_checksums(frame.data(), layers.outer);
  };
  for (int round = 0; round < 500; ++round) {
    FrameModel frame = random.frame();
    if (!frame.is_ip || frame.l4 == L4::kRaw || frame.l4 == L4::kEsp) continue;
    frame.has_udp_checksum = true;
    const Bytes bytes = frame.bytes();
    CHECK(state_of(bytes).ipv4_ok == (frame.ip.version == 4));
    CHECK(state_of(bytes).l4_ok);
    Bytes broken = bytes;
    broken[broken.size() - 1 - random.below(static_cast<std::uint32_t>(frame.payload.size()))] ^=
        static_cast<std::uint8_t>(1 << random.below(8));
    CHECK_FALSE(state_of(broken).l4_ok);
    if (frame.ip.version != 4) continue;
    broken = bytes;
    broken[frame.mac_bytes().size() + 8] ^= 1;  // the time to live
    CHECK_FALSE(state_of(broken).ipv4_ok);
    frame.ip.fragment = 0x2000;
    CHECK_FALSE(state_of(frame.bytes()).l4_ok);  // truncated
  }
}

}  // namespace verbs::mlx5::steering::test
