#include <doctest/doctest.h>

#include "link/udp/foreign_peers.h"
#include "test/link/support/memory_link.h"
#include "wire/icrc.h"
#include "wire/identification.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

constexpr Nanos kSecond = 1'000'000'000;

// Peers by the last byte of their address.
class IdentificationScene {
 public:
  // Whether a frame with that identification is restored.
  bool takes(std::uint16_t identification, Nanos now, std::uint8_t peer = 1, bool multicast = false) {
    wire::Path path;
    path.sgid = ipv4_gid(10, 0, 0, peer);
    path.dgid = multicast ? ipv4_gid(239, 7, 7, 7) : ipv4_gid(10, 0, 1, 1);
    Frame frame = sealed_frame(path, ++number_, 64);
    wire::set_identification(frame, identification);
    wire::seal_icrc(frame);
    const Frame sent = frame;
    wire::set_identification(frame, 0);
    identifications.restore(frame, now);
    CHECK((frame == sent) == wire::check_icrc(frame));
    return frame == sent;
  }
  Identifications identifications;

 private:
  std::uint32_t number_ = 0;
};

}  // namespace

TEST_CASE("a peer that counts is followed, over the wrap and with gaps") {
  IdentificationScene scene;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    CAPTURE(i);
    REQUIRE(scene.takes(static_cast<std::uint16_t>(0xfe00 + i + (i % 7 == 0 ? 5 : 0)), 0));
  }
}

TEST_CASE("a far identification is not credible, until the peer was idle or says it twice") {
  IdentificationScene scene;
  REQUIRE(scene.takes(1000, 0));
  CHECK(scene.takes(1064, 0));
  CHECK_FALSE(scene.takes(1129, 0));
  CHECK(scene.takes(1000, 0));  // packets overtake each other
  CHECK_FALSE(scene.takes(30'000, 0));
  CHECK_FALSE(scene.takes(50'000, 0));
  CHECK(scene.takes(50'007, 0));  // a second one like the last
  CHECK(scene.takes(50'008, 0));
  CHECK_FALSE(scene.takes(54'000, kSecond));
  REQUIRE(scene.takes(50'009, kSecond));
  CHECK(scene.takes(54'000, 5 * kSecond));
  CHECK(scene.takes(20'000, 100 * kSecond));
}

TEST_CASE("a peer that always sends 0 gets the full check, and loses it when it counts") {
  IdentificationScene scene;
  for (int i = 0; i < 8; ++i) CHECK(scene.takes(0, 0));
  CHECK_FALSE(scene.takes(3, 0));
  CHECK(scene.takes(4, 0));
  CHECK(scene.takes(5, 0));
  // A counting peer sends 0 once in 65,536 packets.
  CHECK(scene.takes(0, 0));
  CHECK(scene.takes(6, 0));
}

TEST_CASE("each peer has its own count") {
  IdentificationScene scene;
  REQUIRE(scene.takes(100, 0, 1));
  REQUIRE(scene.takes(40'000, 0, 2));
  CHECK(scene.takes(101, 0, 1));
  CHECK(scene.takes(40'001, 0, 2));
  CHECK_FALSE(scene.takes(40'002, 0, 1));
}

TEST_CASE("what a peer sends to a group has a count of its own") {
  IdentificationScene scene;
  REQUIRE(scene.takes(1000, 0));
  CHECK(scene.takes(40'000, 0, 1, true));
  CHECK(scene.takes(1001, 0));
  CHECK(scene.takes(40'001, 0, 1, true));
}

TEST_CASE("a damaged frame stays as it is") {
  Identifications identifications;
  wire::Path path;
  path.sgid = ipv4_gid(10, 0, 0, 1);
  path.dgid = ipv4_gid(10, 0, 1, 1);
  int restored = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    Frame frame = sealed_frame(path, i, 64);
    frame[50 + i % 40] ^= static_cast<std::uint8_t>(1 + i % 255);
    const Frame before = frame;
    identifications.restore(frame, 0);
    restored += frame != before;
  }
  CHECK(restored <= 1);
}

// The network decides about the length of a datagram: a bit of the UDP length that is lost leaves 12 bytes of an ACK.
TEST_CASE("a datagram that is too short for a packet stays as it is") {
  wire::Path path;
  path.sgid = ipv4_gid(10, 0, 0, 1);
  path.dgid = ipv4_gid(10, 0, 1, 1);
  Identifications identifications;
  for (std::size_t size = 0; size <= 20; ++size) {
    CAPTURE(size);
    Frame frame(wire::network_size(path) + size, 0xa5);
    wire::write_network(frame.data(), path, size);
    const Frame sent = frame;
    identifications.restore(frame, 0);
    CHECK(frame == sent);
  }
}
