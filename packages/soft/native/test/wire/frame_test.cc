#include "wire/frame.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "wire/bytes.h"

namespace wire = verbs::soft::wire;

namespace {

wire::Path ipv4_path() {
  const std::uint8_t a[4] = {127, 0, 0, 1}, b[4] = {127, 0, 0, 2};
  wire::Path path;
  path.sgid = wire::Gid::from_ipv4(a);
  path.dgid = wire::Gid::from_ipv4(b);
  path.traffic_class = 0x2e;
  path.hop_limit = 9;
  path.source_port = 0xc0de;
  return path;
}

wire::Path ipv6_path() {
  wire::Path path = ipv4_path();
  for (std::uint8_t i = 0; i < 16; ++i) {
    path.sgid.bytes[i] = i;
    path.dgid.bytes[i] = static_cast<std::uint8_t>(0x20 + i);
  }
  path.flow_label = 0xfedcb;
  return path;
}

std::vector<std::uint8_t> make_frame(const wire::Path& path, std::size_t transport_size) {
  std::vector<std::uint8_t> frame(wire::network_size(path) + transport_size, 0x5a);
  REQUIRE(wire::write_network(frame.data(), path, transport_size) == wire::network_size(path));
  return frame;
}

}  // namespace

TEST_CASE("a parsed frame equals the written one") {
  for (const wire::Path& path : {ipv4_path(), ipv6_path()}) {
    const auto frame = make_frame(path, 40);
    const auto view = wire::parse_frame(frame);
    REQUIRE(view);
    CHECK(view->ipv4 == path.dgid.is_ipv4());
    CHECK(view->path().sgid == path.sgid);
    CHECK(view->path().dgid == path.dgid);
    CHECK(view->path().traffic_class == path.traffic_class);
    CHECK(view->path().hop_limit == path.hop_limit);
    CHECK(view->path().flow_label == path.flow_label);
    CHECK(view->path().source_port == path.source_port);
    CHECK(view->path().destination_port == wire::kRocePort);
    CHECK(view->ip.size() == (view->ipv4 ? 20 : 40));
    CHECK(view->ip.data() == frame.data());
    CHECK(view->transport.size() == 40);
    CHECK(view->transport.data() + 40 == frame.data() + frame.size());
    CHECK(wire::network_size_of(frame) == wire::network_size(path));
    CHECK(wire::destination_of(frame) == path.dgid);
  }
}

TEST_CASE("the IPv4 header checksum sums to zero") {
  const auto frame = make_frame(ipv4_path(), 100);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 20; i += 2) sum += wire::load_be<std::uint16_t>(&frame[i]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  CHECK(sum == 0xffff);
}

TEST_CASE("the smallest transport is a BTH and an ICRC") {
  for (const wire::Path& path : {ipv4_path(), ipv6_path()}) {
    CHECK(wire::parse_frame(make_frame(path, 16)));
    CHECK_FALSE(wire::parse_frame(make_frame(path, 15)));
    CHECK_FALSE(wire::parse_frame(make_frame(path, 0)));
  }
}

TEST_CASE("every truncation and every extension of a frame is rejected") {
  for (const wire::Path& path : {ipv4_path(), ipv6_path()}) {
    auto frame = make_frame(path, 60);
    for (std::size_t size = 0; size < frame.size(); ++size) {
      // A copy of exactly that size, so that a sanitizer sees a read past its end.
      const std::vector<std::uint8_t> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_FALSE(wire::parse_frame(cut));
    }
    frame.push_back(0);
    CHECK_FALSE(wire::parse_frame(frame));
  }
}

TEST_CASE("frames that are not plain UDP are rejected") {
  struct Change {
    std::size_t at;
    std::uint8_t value;
  };
  for (const Change change : {Change{0, 0x46}, Change{0, 0x55}, Change{0, 0x00}, Change{6, 0x60}, Change{7, 0x01},
                              Change{9, 6}, Change{3, 0}, Change{25, 1}}) {
    auto frame = make_frame(ipv4_path(), 40);
    frame[change.at] = change.value;
    CAPTURE(change.at);
    CHECK_FALSE(wire::parse_frame(frame));
  }
  for (const Change change : {Change{0, 0x40}, Change{6, 44}, Change{5, 0}, Change{45, 1}}) {
    auto frame = make_frame(ipv6_path(), 40);
    frame[change.at] = change.value;
    CAPTURE(change.at);
    CHECK_FALSE(wire::parse_frame(frame));
  }
}

TEST_CASE("random bytes never parse into something outside of themselves") {
  std::mt19937 random(5);
  std::size_t parsed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes(random() % 120);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    // Most rounds start from a header that is nearly right, or nothing would get past the first check.
    if (round % 4 != 0 && bytes.size() >= 64) {
      const wire::Path path = round % 2 != 0 ? ipv4_path() : ipv6_path();
      wire::write_network(bytes.data(), path, bytes.size() - wire::network_size(path));
      bytes[random() % 48] ^= static_cast<std::uint8_t>(1u << random() % 8);
    }
    const auto view = wire::parse_frame(bytes);
    if (!view) continue;
    ++parsed;
    REQUIRE(view->transport.size() >= 16);
    REQUIRE(view->ip.data() == bytes.data());
    REQUIRE(view->transport.data() + view->transport.size() == bytes.data() + bytes.size());
  }
  CHECK(parsed > 1000);
}
