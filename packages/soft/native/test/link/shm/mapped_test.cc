// Memory that a process offers to its peers, which map it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "link/shm/shm_link.h"
#include "test/link/shm/shm_end.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

constexpr std::size_t kOffered = 8 * 4096;
constexpr const char* kFileName = "offered-by-a-test";

// A memory file, mapped once by the sender.
struct OfferedFile {
  explicit OfferedFile(int seals = F_SEAL_SHRINK, std::size_t file_size = kOffered)
      : fd(memfd_create(kFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    REQUIRE(ftruncate(fd, static_cast<off_t>(file_size)) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, seals) == 0);
    data = static_cast<std::uint8_t*>(mmap(nullptr, kOffered, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    REQUIRE(data != MAP_FAILED);
  }
  ~OfferedFile() {
    munmap(data, kOffered);
    close(fd);
  }
  OfferedFile(const OfferedFile&) = delete;
  OfferedFile& operator=(const OfferedFile&) = delete;
  Offer offer() const {
    return {.address = reinterpret_cast<std::uintptr_t>(data),
            .size = kOffered,
            .offset = 0,
            .fd = static_cast<std::uint32_t>(fd)};
  }

  int fd;
  std::uint8_t* data;
};

// How often the process has memory files of this name mapped.
int offered_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(kFileName) != std::string::npos;
  return count;
}

// Looks for what frames refer to, and copies its first byte.
class MappedFinder final : public Receiver {
 public:
  void deliver(std::span<const std::uint8_t> /*frame*/) override {}
  void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& memory) override {
    Reference reference{};
    std::memcpy(&reference, frame.data() + kHead, sizeof reference);
    at = memory.find_mapped(reference);
    byte = at != nullptr ? *at : 0;
    if (before_confirmation) before_confirmation();
    again = memory.find_mapped(reference);  // as for the next piece of the frame
    confirmed = at != nullptr && memory.confirm(true);
  }

  static constexpr std::size_t kHead = wire::kIpv6Size + wire::kUdpSize + wire::Bth::kSize;
  const std::uint8_t* at = nullptr;
  const std::uint8_t* again = nullptr;
  std::uint8_t byte = 0;
  bool confirmed = false;
  std::function<void()> before_confirmation;
};

struct OfferingPair {
  End a, b;
  OfferedMemory offered;
  MappedFinder finder;

  OfferingPair() {
    a.link->offer(offered);
    a.send_to(b, 1);
    a.link->flush();
    b.receive();
    REQUIRE(a.link->takes_references(a.address, b.address, 17));
  }
  void refer(const Reference& reference) {
    Frame frame = a.frame_to(b.address, 1, sizeof reference);
    std::memcpy(frame.data() + MappedFinder::kHead, &reference, sizeof reference);
    std::uint8_t* buffer = a.link->reserve();
    std::memcpy(buffer, frame.data(), frame.size());
    a.link->commit_referring({buffer, frame.size()});
  }
  const std::uint8_t* find(const void* memory, std::size_t size) {
    refer({reinterpret_cast<std::uintptr_t>(memory), size});
    a.link->flush();
    finder.at = nullptr;
    b.link->receive(finder, 8);
    return finder.at;
  }
};

}  // namespace

TEST_CASE("a receiver maps the memory that the sender offers, for as long as it does") {
  OfferingPair net;
  OfferedFile file;
  file.data[100] = 42;
  CHECK(net.find(file.data, kOffered) == nullptr);
  const std::uint32_t id = net.offered.add(file.offer());
  REQUIRE(net.find(file.data + 100, 16) != nullptr);
  CHECK(net.finder.byte == 42);
  CHECK(net.finder.confirmed);
  CHECK(net.finder.at != file.data + 100);
  CHECK(net.b.link->counters().mapped == 1);
  CHECK(net.b.link->counters().pulled == 1);
  file.data[100] = 43;
  net.find(file.data + 100, kOffered - 100);
  CHECK(net.finder.byte == 43);
  CHECK(offered_mappings() == 2);

  SUBCASE("not beyond its ends") {
    CHECK(net.find(file.data + 100, kOffered - 99) == nullptr);
    CHECK(net.find(file.data - 1, 16) == nullptr);
    CHECK(net.find(file.data, ~std::size_t{0}) == nullptr);
  }
  SUBCASE("not after it was withdrawn, and a receiver that sleeps wakes to give it back") {
    net.b.receive();
    net.b.link->prepare_sleep();
    CHECK_FALSE(net.b.is_readable());
    net.offered.withdraw(id);
    net.a.link->flush();
    CHECK(net.b.is_readable());
    net.b.receive();
    CHECK(offered_mappings() == 1);
    CHECK(net.find(file.data, 16) == nullptr);
  }
  SUBCASE("not other memory at its place") {
    net.offered.withdraw(id);
    OfferedFile other;
    other.data[0] = 7;
    Offer offer = other.offer();
    offer.address = file.offer().address;
    net.offered.add(offer);
    net.refer({offer.address, 16});
    net.a.link->flush();
    net.b.link->receive(net.finder, 8);
    CHECK(net.finder.byte == 7);
  }
  SUBCASE("what is revoked meanwhile is not used") {
    net.finder.before_confirmation = [&] { net.a.link->revoke_references(); };
    CHECK(net.find(file.data, 16) != nullptr);
    CHECK_FALSE(net.finder.confirmed);
    CHECK(net.b.link->counters().unpulled == 1);
  }
  SUBCASE("what a piece of a frame has found stays mapped until the frame is done") {
    net.finder.before_confirmation = [&] {
      net.offered.withdraw(id);
      net.a.link->flush();
    };
    REQUIRE(net.find(file.data, 16) != nullptr);
    CHECK(net.finder.again == net.finder.at);
    net.b.receive();
    CHECK(offered_mappings() == 1);
  }
  SUBCASE("and no longer than the connection") {
    net.a.link.reset();
    net.b.receive();
    CHECK(offered_mappings() == 1);
  }
}

TEST_CASE("a receiver maps only memory files that cannot shrink, as far as they reach") {
  OfferingPair net;
  OfferedFile file, unsealed(0), grows(F_SEAL_GROW), short_one(F_SEAL_SHRINK, 4096);
  Offer offer = file.offer();
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  SUBCASE("one that can shrink") { offer = unsealed.offer(); }
  SUBCASE("one that cannot grow") { offer = grows.offer(); }
  SUBCASE("one that is too short") { offer = short_one.offer(); }
  SUBCASE("a place behind its end") { offer.offset = 4096; }
  SUBCASE("a place far behind its end") { offer.offset = ~std::uint64_t{0} << 12; }
  SUBCASE("within a page") { offer.offset = 1, offer.size = 4096; }
  SUBCASE("nothing") { offer.size = 0; }
  SUBCASE("too much") { offer.size = ~std::uint64_t{0}; }
  SUBCASE("no descriptor") { offer.fd = ~0u; }
  SUBCASE("another descriptor") { offer.fd = static_cast<std::uint32_t>(pipes[0]); }
  const int before = offered_mappings();
  offer.address = file.offer().address;
  net.offered.add(offer);
  CHECK(net.find(file.data, 16) == nullptr);
  CHECK(net.find(file.data, 0) == nullptr);
  CHECK(offered_mappings() == before);
  close(pipes[0]);
  close(pipes[1]);
  // Others are not concerned.
  OfferedFile good;
  net.offered.add(good.offer());
  CHECK(net.find(good.data, 16) != nullptr);
}

TEST_CASE("all offers of a peer together are bounded") {
  OfferingPair net;
  const std::size_t huge = std::size_t{40} << 30;
  const int fd = memfd_create(kFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(ftruncate(fd, static_cast<off_t>(huge)) == 0);
  REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  Offer offer{.address = 1 << 20, .size = huge, .offset = 0, .fd = static_cast<std::uint32_t>(fd)};
  net.offered.add(offer);
  offer.address += huge;
  net.offered.add(offer);
  const auto* first = reinterpret_cast<const void*>(std::uintptr_t{1 << 20});
  CHECK(net.find(first, 16) != nullptr);
  CHECK(net.find(static_cast<const char*>(first) + huge, 16) == nullptr);
  close(fd);
}

TEST_CASE("a list of offers that changes while it is read is not used") {
  SharedMemory memory;
  int fd = -1;
  REQUIRE(SharedMemory::create(kRingMemory, &memory, &fd) == 0);
  close(fd);
  RingWriter writer(memory.data());
  const RingReader reader(memory.data());
  OfferedMemory offered;
  offered.add({.address = 4096, .size = 1, .offset = 0, .fd = 3});
  writer.set_offers(offered.list());
  OfferedMemory::List list;
  std::uint32_t version = 0;
  REQUIRE(reader.read_offers(&list, &version));
  CHECK(list == offered.list());
  CHECK(version == reader.offers_version());
  reinterpret_cast<RingHeader*>(memory.data())->offers_version.store(version + 1);
  CHECK_FALSE(reader.read_offers(&list, &version));
}

TEST_CASE("a device offers a bounded number of regions, and places are used again") {
  OfferedMemory offered;
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < OfferedMemory::kMost; ++i) ids.push_back(offered.add({.address = i, .size = 1}));
  const std::uint64_t full = offered.version();
  CHECK(offered.add({.address = 1, .size = 1}) == 0);
  offered.withdraw(0);
  CHECK(offered.version() == full);
  offered.withdraw(ids[5]);
  const std::uint32_t again = offered.add({.address = 99, .size = 1});
  CHECK(again > ids.back());
  CHECK(offered.list()[5].address == 99);
}
