#include "wire/icrc.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <random>
#include <string>
#include <vector>

#include "wire/frame.h"
#include "wire/headers.h"

namespace wire = verbs::soft::wire;

namespace {

std::vector<std::uint8_t> from_hex(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Packets as Scapy (scapy.contrib.roce) builds them, ICRC included.
struct Golden {
  const char* name;
  const char* hex;
};
constexpr Golden kGolden[] = {
    {"RC SEND Only",
     "4500004000004000401122a50a0102030a01020412b712b7002c00000440ffff0012345680fffffe"
     "68656c6c6f2c20766572627320776f726c642121a7833172"},
    {"RC SEND Only with pad, traffic class and hop limit",
     "456800380000400003115f450a0102030a010204c12312b70024000004b0ffff0000001180000005"
     "6f6464206279746573000000ee08a414"},
    {"RC RDMA WRITE Only with Immediate",
     "4500006000004000401122850a0102030a010204d00d12b7004c00000b00ffff00abcdef8000beef"
     "00007f1234560000abcdef0100000400cafe0001"
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fe6600c04"},
    {"RC RDMA READ Request",
     "4500003c00004000401122a90a0102030a010204ffff12b7002800000c00ffff0000001100000001"
     "00007f1234560000abcdef0100000400695c38ae"},
    {"RC Acknowledge",
     "4500003000004000401122b50a0102030a01020412b712b7001c00001100ffff0000002200000123"
     "1f00000732ef0790"},
    {"UC SEND Last",
     "4500003000004000401122b50a0102030a010204c00012b7001c00002200ffff0000003300000009"
     "5a5a5a5a18aba198"},
    {"UD SEND Only with Immediate, FECN",
     "4500003c00004000011161a90a0102030a010204c00112b7002800006500ffff8000000100000077"
     "80010000000000440000123401020304086fa965"},
};

std::vector<std::uint8_t> make_frame(const wire::Path& path, std::size_t transport_size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> frame(wire::network_size(path) + transport_size);
  for (auto& byte : frame) byte = static_cast<std::uint8_t>(random());
  wire::write_network(frame.data(), path, transport_size);
  return frame;
}

// An independent implementation of annex A17, with zlib and a masked copy.
std::uint32_t reference_icrc(std::vector<std::uint8_t> frame) {
  std::size_t udp = 20;
  if (frame[0] >> 4 == 4) {
    for (std::size_t at : {1, 8, 10, 11}) frame[at] = 0xff;
  } else {
    udp = 40;
    frame[0] = 0x6f;
    for (std::size_t at : {1, 2, 3, 7}) frame[at] = 0xff;
  }
  for (std::size_t at : {udp + 6, udp + 7, udp + 12}) frame[at] = 0xff;
  const std::vector<std::uint8_t> ones(8, 0xff);
  const auto crc = ::crc32(0, ones.data(), 8);
  return static_cast<std::uint32_t>(::crc32(crc, frame.data(), static_cast<uInt>(frame.size() - 4)));
}

wire::Gid ipv6(std::uint8_t last) {
  wire::Gid gid;
  gid.bytes = {0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, last};
  return gid;
}

}  // namespace

TEST_CASE("the ICRC of Scapy's packets") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.name);
    auto frame = from_hex(golden.hex);
    CHECK(wire::parse_frame(frame).has_value());
    CHECK(wire::check_icrc(frame));
    const auto before = frame;
    for (std::size_t i = 1; i <= 4; ++i) frame[frame.size() - i] = 0x77;
    CHECK_FALSE(wire::check_icrc(frame));
    wire::seal_icrc(frame);
    CHECK(frame == before);
  }
}

TEST_CASE("our network headers are Scapy's, bit for bit") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.name);
    const auto frame = from_hex(golden.hex);
    const auto parsed = wire::parse_frame(frame);
    REQUIRE(parsed);
    const wire::FrameView view = parsed.value_or(wire::FrameView{});
    std::vector<std::uint8_t> header(wire::kMaxNetworkSize);
    header.resize(wire::write_network(header.data(), view.path(), view.transport.size()));
    CHECK(std::equal(header.begin(), header.end(), frame.begin()));
    const wire::Bth bth = wire::Bth::parse(view.transport.data());
    std::uint8_t again[wire::Bth::kSize];
    bth.emit(again);
    CHECK(std::equal(again, again + wire::Bth::kSize, view.transport.data()));
  }
}

TEST_CASE("the ICRC by zlib, IPv4 and IPv6, all sizes of transport") {
  for (const bool ipv4 : {true, false}) {
    wire::Path path;
    const std::uint8_t a[4] = {192, 0, 2, 1}, b[4] = {192, 0, 2, 2};
    path.sgid = ipv4 ? wire::Gid::from_ipv4(a) : ipv6(1);
    path.dgid = ipv4 ? wire::Gid::from_ipv4(b) : ipv6(2);
    path.traffic_class = 0xa5;
    path.hop_limit = 7;
    path.flow_label = 0x12345;
    for (std::size_t size = 16; size < 4200; size += size < 200 ? 1 : 61) {
      auto frame = make_frame(path, size, static_cast<std::uint32_t>(size));
      CAPTURE(size);
      CHECK(wire::icrc(frame) == reference_icrc(frame));
      wire::seal_icrc(frame);
      CHECK(wire::check_icrc(frame));
    }
  }
}

TEST_CASE("fields that routers change are not covered, all other bits are") {
  for (const bool ipv4 : {true, false}) {
    CAPTURE(ipv4);
    wire::Path path;
    const std::uint8_t a[4] = {192, 0, 2, 1}, b[4] = {192, 0, 2, 2};
    path.sgid = ipv4 ? wire::Gid::from_ipv4(a) : ipv6(1);
    path.dgid = ipv4 ? wire::Gid::from_ipv4(b) : ipv6(2);
    auto frame = make_frame(path, 64, 3);
    wire::seal_icrc(frame);
    const std::size_t udp = ipv4 ? 20 : 40;
    auto variant = [&](std::size_t at) -> std::uint8_t {
      if (at == udp + 6 || at == udp + 7 || at == udp + 12) return 0xff;
      if (ipv4) return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
      return at == 0 ? 0x0f : (at >= 1 && at <= 3) || at == 7 ? 0xff : 0;
    };
    // The version decides which layout is meant, so its bits are left alone.
    for (std::size_t at = 0; at < frame.size(); ++at) {
      for (int bit = at == 0 ? 3 : 7; bit >= 0; --bit) {
        frame[at] ^= static_cast<std::uint8_t>(1 << bit);
        CAPTURE(at);
        CHECK(wire::check_icrc(frame) == ((variant(at) >> bit & 1) != 0));
        frame[at] ^= static_cast<std::uint8_t>(1 << bit);
      }
    }
  }
}
