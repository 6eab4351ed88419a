#include <doctest/doctest.h>
#include <zlib.h>

#include <random>
#include <vector>

#include "wire/icrc.h"

namespace wire = verbs::soft::wire;

namespace {

std::vector<std::uint8_t> random_bytes(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

std::uint32_t zlib_register(std::uint32_t crc, const std::uint8_t* data, std::size_t size) {
  return ~static_cast<std::uint32_t>(::crc32(~crc, data, static_cast<uInt>(size)));
}

}  // namespace

TEST_CASE("crc32 of the check string") {
  const auto* text = reinterpret_cast<const std::uint8_t*>("123456789");
  CHECK(~wire::crc32_update(0xffffffff, text, 9) == 0xcbf43926u);
  CHECK(~wire::crc32_update_portable(0xffffffff, text, 9) == 0xcbf43926u);
}

TEST_CASE("crc32 agrees with zlib for every length and alignment") {
  const auto bytes = random_bytes(5000 + 16, 1);
  std::size_t wrong = 0;
  for (std::size_t size = 0; size <= 5000; ++size) {
    const std::size_t shift = size % 16;
    const std::uint32_t seed = 0x9e3779b9u * static_cast<std::uint32_t>(size);
    const std::uint32_t expected = zlib_register(seed, bytes.data() + shift, size);
    wrong += wire::crc32_update(seed, bytes.data() + shift, size) != expected;
    wrong += wire::crc32_update_portable(seed, bytes.data() + shift, size) != expected;
  }
  for (std::size_t size = 0; size <= 200; ++size) {
    for (std::size_t shift = 0; shift < 16; ++shift) {
      const std::uint32_t expected = zlib_register(0, bytes.data() + shift, size);
      wrong += wire::crc32_update(0, bytes.data() + shift, size) != expected;
      wrong += wire::crc32_update_portable(0, bytes.data() + shift, size) != expected;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("crc32 of the parts is the crc32 of the whole") {
  const auto bytes = random_bytes(300, 2);
  const std::uint32_t whole = wire::crc32_update(7, bytes.data(), bytes.size());
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::uint32_t first = wire::crc32_update(7, bytes.data(), cut);
    CHECK(wire::crc32_update(first, bytes.data() + cut, bytes.size() - cut) == whole);
  }
}
