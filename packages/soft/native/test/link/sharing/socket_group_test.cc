#include "link/sharing/socket_group.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <vector>

#include "link/udp/udp_link.h"
#include "test/link/support/memory_link.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

constexpr std::uint16_t kPort = 4793;  // of no device

// A process at the address, as far as the network goes.
class Member final : public Receiver {
 public:
  explicit Member(const wire::Gid& address) {
    REQUIRE(UdpLink::open(address, {.port = kPort, .shared = true}, &link_) == 0);
    REQUIRE(NumberRanges::claim(&ranges_) == 0);
    group_ = std::make_unique<SocketGroup>(address, link_->wait_fd(), kPort, ranges_);
    REQUIRE(group_->open() == 0);
  }

  void deliver(std::span<const std::uint8_t> frame) override {
    if (range_of(frame) == kProbeRange) return group_->take_probe(frame);
    ++(ranges_->owns(range_of(frame)) ? own : strays);
  }
  void deliver_unsealed(std::span<const std::uint8_t> frame) override { deliver(frame); }

  void look() {
    link_->receive(*this, 64);
    group_->look(*this);
  }
  bool is_settled() const { return group_->is_settled(); }
  std::uint32_t number() const { return std::uint32_t{ranges_->first()} << kRangeBits | 17; }

  int own = 0, strays = 0;

 private:
  std::unique_ptr<UdpLink> link_;
  std::shared_ptr<NumberRanges> ranges_;
  std::unique_ptr<SocketGroup> group_;
};

// Looks at all members until the condition holds, or for two seconds.
template <typename Condition>
bool until(const std::vector<Member*>& members, Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    for (Member* member : members) member->look();
    poll(nullptr, 0, 1);
  }
  return condition();
}

}  // namespace

// The hash by which the kernel chooses without a program is another one for each address: for half of them it is wrong.
TEST_CASE("the second process at an address gets its frames, whatever the kernel's hash is") {
  for (std::uint8_t i = 1; i <= 8; ++i) {
    CAPTURE(i);
    const wire::Gid address = ipv4_gid(127, 44, 7, i), from = ipv4_gid(127, 44, 8, i);
    Member first(address), second(address);
    REQUIRE(until({&first, &second}, [&] { return second.is_settled(); }));
    std::unique_ptr<UdpLink> sender;
    REQUIRE(UdpLink::open(from, {.port = kPort}, &sender) == 0);
    wire::Path path;
    path.sgid = from;
    path.dgid = address;
    path.source_port = kPort;
    for (const Member* member : {&first, &second}) {
      Frame frame = sealed_frame(path, 1, 64);
      wire::store_be(frame.data() + wire::network_size_of(frame) + 4, member->number());
      for (int count = 0; count < 10; ++count) sender->send(frame);
      sender->flush();
    }
    CHECK(until({&first, &second}, [&] { return first.own + first.strays + second.own + second.strays == 20; }));
    CHECK(first.own == 10);
    CHECK(second.own == 10);
  }
}
