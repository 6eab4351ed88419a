#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "link/shm/shm_link.h"
#include "test/link/shm/shm_end.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

// Reads what a frame refers to, as a receiver does.
class Puller final : public Receiver {
 public:
  explicit Puller(std::size_t size) : bytes(size) {}
  void deliver(std::span<const std::uint8_t> /*frame*/) override {}
  void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& memory) override {
    std::vector<Reference> list((frame.size() - kHead - wire::kIcrcSize) / sizeof(Reference));
    std::memcpy(list.data(), frame.data() + kHead, list.size() * sizeof(Reference));
    if (before_read) before_read();
    const iovec to[2] = {{bytes.data(), 10}, {bytes.data() + 10, bytes.size() - 10}};
    results.push_back(memory.confirm(memory.read(to, list)));
  }

  static constexpr std::size_t kHead = wire::kIpv6Size + wire::kUdpSize + wire::Bth::kSize;
  std::vector<std::uint8_t> bytes;
  std::vector<bool> results;
  std::function<void()> before_read;
};

void refer(End& from, const End& to, std::vector<Reference> list) {
  Frame frame = from.frame_to(to.address, 1, list.size() * sizeof(Reference));
  std::memcpy(frame.data() + Puller::kHead, list.data(), list.size() * sizeof(Reference));
  std::uint8_t* buffer = from.link->reserve();
  std::copy(frame.begin(), frame.end(), buffer);
  from.link->commit_referring({buffer, frame.size()});
  from.link->flush();
}

Reference reference_to(const void* memory, std::size_t size) {
  return {reinterpret_cast<std::uintptr_t>(memory), size};
}

}  // namespace

TEST_CASE("a receiver copies what a frame refers to from the sender's memory, as long as it is valid") {
  End a, b;
  CHECK_FALSE(a.link->takes_references(a.address, b.address, 17));  // nobody knows yet
  a.send_to(b, 1);
  a.link->flush();
  b.receive();
  REQUIRE(a.link->takes_references(a.address, b.address, 17));
  CHECK_FALSE(a.link->takes_references(b.address, b.address, 17));
  CHECK_FALSE(a.link->takes_references(a.address, new_address(), 17));

  std::vector<std::uint8_t> source(100'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 7);
  Puller puller(source.size());
  refer(a, b, {reference_to(source.data(), 1), reference_to(source.data() + 1, source.size() - 1)});
  b.link->receive(puller, 8);
  CHECK(puller.results == std::vector<bool>{true});
  CHECK(puller.bytes == source);
  CHECK(b.link->counters().pulled == 1);

  SUBCASE("not when it is revoked before") {
    refer(a, b, {reference_to(source.data(), source.size())});
    a.link->revoke_references();
  }
  SUBCASE("not when it is revoked meanwhile") {
    refer(a, b, {reference_to(source.data(), source.size())});
    puller.before_read = [&] { a.link->revoke_references(); };
  }
  SUBCASE("not when the sender is gone") {
    refer(a, b, {reference_to(source.data(), source.size())});
    a.link.reset();
  }
  SUBCASE("not when it is not mapped") {
    void* gone = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 8192);
    refer(a, b, {reference_to(gone, source.size())});
  }
  SUBCASE("not when it is only half there") {
    auto* half = static_cast<std::uint8_t*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(half + 4096, 4096);
    refer(a, b, {reference_to(half + 96, source.size())});
  }
  SUBCASE("not from the kernel") { refer(a, b, {{~std::uint64_t{0} - 99'999, 100'000}}); }
  b.link->receive(puller, 8);
  CHECK(puller.results == std::vector<bool>{true, false});
  CHECK(b.link->counters().unpulled == 1);
}

TEST_CASE("references that wait for room are those of their time") {
  End a, b;
  const std::uint64_t value = 0x1122334455667788;
  const std::size_t full = fill(a, b);
  refer(a, b, {reference_to(&value, sizeof value), reference_to(&value, sizeof value)});
  a.link->revoke_references();
  refer(a, b, {reference_to(&value, sizeof value), reference_to(&value, sizeof value)});
  Puller puller(2 * sizeof value);
  std::size_t received = 0;
  while (b.link->prepare_sleep(), received < full + 2) {
    received += b.link->receive(puller, 64);
    a.link->relieve();
  }
  CHECK(puller.results == std::vector<bool>{false, true});
}

TEST_CASE("what refers to memory does not wait for a peer to come back") {
  std::shared_ptr<NumberRanges> numbers;  // frames to a process that shares its address wait until it has responded
  REQUIRE(NumberRanges::claim(&numbers) == 0);
  End a, b;
  a.link.reset();
  REQUIRE(ShmLink::open(a.address, a.next, virtual_clock, &a.link, {.numbers = numbers}) == 0);
  a.send_to(b, 1);
  a.link->flush();
  REQUIRE(b.receive().size() == 1);
  b.link.reset();
  REQUIRE(ShmLink::open(b.address, b.next, virtual_clock, &b.link) == 0);
  const std::uint64_t value = 0x1122334455667788;
  refer(a, b, {reference_to(&value, sizeof value), reference_to(&value, sizeof value)});
  CHECK(a.link->counters().dropped == 1);
  a.link->revoke_references();  // … of a connection that is not there yet
  Puller puller(2 * sizeof value);
  REQUIRE(eventually([&] {
    a.look();
    b.link->prepare_sleep();
    b.link->receive(puller, 8);
    return a.has_met(b);
  }));
  a.send_to(b, 2);
  a.link->flush();
  b.link->prepare_sleep();
  b.link->receive(puller, 8);
  CHECK(puller.results.empty());
}

TEST_CASE("a process that does not prove its memory is not read") {
  End b;
  const wire::Gid source = new_address();
  Hello hello = make_hello(source, b.address, PeerProcess::own_proof());
  SUBCASE("other bytes") { hello.proof[3] ^= 1; }
  SUBCASE("no memory") { hello.proof_at = 8; }
  SUBCASE("no bytes") {
    static const Proof zero{};
    hello = make_hello(source, b.address, zero);
  }
  int fd = -1, memory_fd = -1;
  SharedMemory memory;
  fd = invited_to(b.address);
  REQUIRE(SharedMemory::create(kRingMemory, &memory, &memory_fd) == 0);
  REQUIRE(send_hello(fd, hello, memory_fd) == 0);
  close(memory_fd);
  RingWriter writer(memory.data());
  REQUIRE(eventually([&] { return b.is_readable(); }));
  b.receive();
  CHECK_FALSE(writer.reader_pulls());
  // It refers all the same.
  wire::Path path;
  path.sgid = source;
  path.dgid = b.address;
  Frame frame = sealed_frame(path, 1, sizeof(Reference));
  const Reference reference = reference_to(&path, 16);
  std::memcpy(frame.data() + Puller::kHead, &reference, sizeof reference);
  CHECK(writer.write(frame, FrameForm::kReferring));
  writer.publish();
  Puller puller(16);
  b.link->receive(puller, 8);
  CHECK(puller.results == std::vector<bool>{false});
  close(fd);
}
