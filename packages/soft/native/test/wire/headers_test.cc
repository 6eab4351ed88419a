#include "wire/headers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace wire = verbs::soft::wire;

namespace {

// Whatever the bytes, parsing and emitting keeps all but the reserved ones.
template <typename Header>
void round_trip(std::initializer_list<std::size_t> reserved = {}) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::uint8_t bytes[Header::kSize + 2], again[Header::kSize + 2];
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    std::memcpy(again, bytes, sizeof bytes);
    for (std::size_t at : reserved) bytes[at] = 0;
    Header::parse(again).emit(again);
    CHECK(std::equal(std::begin(bytes), std::end(bytes), std::begin(again)));
  }
}

}  // namespace

TEST_CASE("headers survive parse and emit") {
  round_trip<wire::Reth>();
  round_trip<wire::Aeth>();
  round_trip<wire::AtomicEth>();
  round_trip<wire::Deth>({4});
}

TEST_CASE("FETH has its fields in the last byte") {
  std::uint8_t bytes[wire::Feth::kSize] = {0xff, 0xff, 0xff, 0xff};
  wire::Feth{wire::Feth::kGlobal | wire::Feth::kPersistent, wire::Feth::kRegion}.emit(bytes);
  const std::uint8_t expected[wire::Feth::kSize] = {0, 0, 0, 0x13};
  CHECK(std::memcmp(bytes, expected, sizeof bytes) == 0);
  const std::uint8_t reserved[wire::Feth::kSize] = {0xff, 0xff, 0xff, 0xc2};
  const wire::Feth feth = wire::Feth::parse(reserved);
  CHECK(feth.placement == wire::Feth::kPersistent);
  CHECK(feth.selectivity == wire::Feth::kRange);
}

TEST_CASE("BTH fields lie where IBTA 9.2 puts them") {
  const std::uint8_t bytes[12] = {0x0a, 0xf5, 0x12, 0x34, 0xc0, 0xab, 0xcd, 0xef, 0x80, 0x01, 0x02, 0x03};
  const wire::Bth bth = wire::Bth::parse(bytes);
  CHECK(bth.opcode == 0x0a);
  CHECK(bth.solicited);
  CHECK(bth.mig_req);
  CHECK(bth.pad == 3);
  CHECK(bth.version == 5);
  CHECK(bth.pkey == 0x1234);
  CHECK(bth.fecn);
  CHECK(bth.becn);
  CHECK(bth.dest_qpn == 0xabcdef);
  CHECK(bth.ack_req);
  CHECK(bth.psn == 0x010203);
  std::uint8_t again[12];
  bth.emit(again);
  CHECK(std::memcmp(bytes, again, 12) == 0);

  std::uint8_t plain[12];
  wire::Bth{}.emit(plain);
  const std::uint8_t expected[12] = {0, 0, 0xff, 0xff};
  CHECK(std::memcmp(plain, expected, 12) == 0);
}
