// Memory files that the NIC maps: their pages, their seals, and when a copy must look out for faults.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "guard/fault_signals.h"
#include "nic/objects/memory_region.h"
#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr std::size_t kSize = 8 * 4096;
constexpr int kNoHoles = 0x10;  // F_SEAL_FUTURE_WRITE
constexpr int kCalls = 64;      // until a seal is seen

struct File {
  File() : fd(memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    REQUIRE(ftruncate(fd, kSize) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  }
  ~File() { close(fd); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::unique_ptr<nic::FileMemory> map() const {
    std::unique_ptr<nic::FileMemory> memory;
    REQUIRE(nic::FileMemory::map(fd, 0, kSize, true, &memory) == 0);
    return memory;
  }
  int punch() const { return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096) == 0 ? 0 : errno; }
  std::size_t allocated() const {
    struct stat status{};
    REQUIRE(fstat(fd, &status) == 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }

  int fd;
};

// Whether a write to the region has the thread take the signals of faults.
bool looks_out(const nic::Mr& mr) {
  CHECK(mr.write(mr.iova + 4000, "12345678", 8));
  const bool admitted = guard::admitted;
  guard::restore_fault_signals();
  return admitted;
}

}  // namespace

TEST_CASE("the pages of a memory file are there when it is registered") {
  const File file;
  CHECK(file.allocated() == 0);
  const auto memory = file.map();
  CHECK(file.allocated() == kSize);
}

TEST_CASE("a memory file lasts once it is sealed against holes, and then it has none") {
  const File file;
  const auto memory = file.map();
  const auto lasts = [&] {
    bool found = false;
    for (int i = 0; i < kCalls; ++i) found |= memory->lasts();
    return found;
  };
  CHECK_FALSE(lasts());
  CHECK(file.punch() == 0);
  CHECK(file.allocated() < kSize);
  REQUIRE(fcntl(file.fd, F_ADD_SEALS, kNoHoles) == 0);
  CHECK(lasts());
  CHECK(file.allocated() == kSize);
  CHECK(file.punch() == EPERM);
  CHECK(file.allocated() == kSize);
}

TEST_CASE("a copy looks out for faults unless the NIC keeps the memory") {
  VirtualNetwork net;
  constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE;
  std::vector<std::uint8_t> own(kSize);
  CHECK(looks_out(*net.a.reg(own.data(), own.size())));

  const File file;
  nic::Mr* mr = nullptr;
  REQUIRE(net.a.nic->mrs().reg_file(net.a.pd, file.map(), kSize, 0, kAccess, &mr) == 0);
  CHECK(looks_out(*mr));
  REQUIRE(fcntl(file.fd, F_ADD_SEALS, kNoHoles) == 0);
  for (int i = 0; i < kCalls; ++i) looks_out(*mr);
  CHECK_FALSE(looks_out(*mr));

  std::shared_ptr<nic::Dm> dm;
  REQUIRE(net.a.nic->device_memory().alloc(kSize, 0, &dm) == 0);
  REQUIRE(net.a.nic->mrs().reg_dm(net.a.pd, dm, 0, kSize, kAccess | IBV_ACCESS_ZERO_BASED, &mr) == 0);
  CHECK_FALSE(looks_out(*mr));
}
