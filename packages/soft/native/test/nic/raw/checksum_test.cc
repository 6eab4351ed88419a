#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "nic/raw_packets.h"

using verbs::soft::nic::fill_checksums;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& hex) {
  Bytes result;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    result.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return result;
}

unsigned number(const Bytes& frame, std::size_t at) { return static_cast<unsigned>(frame[at] << 8 | frame[at + 1]); }

const std::string kMacs = "0150561920a7248a07a528c8";
// 1.1.1.1:1234 to 2.2.2.2:5678 with four bytes of data. The sums below were computed by another program.
const std::string kIp = "4500002000004000401100000101010102020202", kUdp = "04d2162e000c000001020304";

}  // namespace

TEST_CASE("checksums: IPv4 with UDP, behind VLAN tags, and without the padding of a short frame") {
  for (const std::string& tags : {std::string(), std::string("81000c0c"), std::string("88a8000181000002")}) {
    CAPTURE(tags);
    Bytes frame = bytes(kMacs + tags + "0800" + kIp + kUdp);
    frame.resize(frame.size() + 10, 0xff);
    frame[14 + tags.size() / 2 + 10] = 0x12;  // the old value is ignored
    fill_checksums(frame);
    CHECK(number(frame, 14 + tags.size() / 2 + 10) == 0x34c8);
    CHECK(number(frame, 14 + tags.size() / 2 + 26) == 0xdaca);
  }
}

TEST_CASE("checksums: IPv6 with TCP of an odd length, behind an extension header too") {
  const std::string addresses = "a0a1000000000000a2a3a4a5a6a7a8a9b0b1000000000000b2b3b4b5b6b7b8b9";
  const std::string tcp = "04d2162e000000010000000250180200000000006162630a61";
  Bytes frame = bytes(kMacs + "86dd" + "6000000000190640" + addresses + tcp);
  fill_checksums(frame);
  CHECK(number(frame, 14 + 40 + 16) == 0xae8f);
  Bytes behind = bytes(kMacs + "86dd" + "6000000000210040" + addresses + "0600000000000000" + tcp);
  fill_checksums(behind);
  CHECK(number(behind, 14 + 48 + 16) == 0xae8f);
}

TEST_CASE("checksums: a frame without a whole IP packet is unchanged") {
  const Bytes fragment = bytes(kMacs + "0800" + "4500002000002001401100000101010102020202" + kUdp);
  Bytes frame = fragment;
  fill_checksums(frame);
  CHECK(number(frame, 14 + 26) == 0);
  for (const std::string& rest : {std::string("0806") + kIp + kUdp, "0800" + kIp.substr(0, 38), "0800" + kIp,
                                  std::string("86dd") + kIp + kUdp, std::string("8100"), std::string("81000c0c0800")}) {
    const Bytes before = bytes(kMacs + rest);
    frame = before;
    fill_checksums(frame);
    CHECK(frame == before);
  }
  // Whatever it is, nothing outside of it is touched (a sanitizer sees).
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    frame = bytes(kMacs + (i % 3 == 0 ? "86dd60" : i % 3 == 1 ? "080045" : "81000c0c0800"));
    const std::size_t size = random() % 120;
    while (frame.size() < size) frame.push_back(static_cast<std::uint8_t>(random() % (i % 2 == 0 ? 256 : 8)));
    frame.shrink_to_fit();
    fill_checksums(frame);
  }
}
