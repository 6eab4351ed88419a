// Large READs over shared memory, which take one copy where nothing forbids it.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "test/abi/support/device_pair.h"
#include "test/refused_calls.h"

using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kReadBytes = 1 << 20;

struct Readers {
  End a{"read0"}, b{"read1"};

  Readers() {
    a.connect(b);
    b.connect(a);
  }
  void read(std::uint8_t round) {
    for (std::uint32_t i = 0; i < kReadBytes; ++i) b.memory[i] = static_cast<std::uint8_t>(round + i * 7 + (i >> 9));
    REQUIRE(a.rdma(IBV_WR_RDMA_READ, b, kReadBytes) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    CHECK(std::memcmp(a.memory.data(), b.memory.data(), kReadBytes) == 0);
  }
  static std::uint64_t pulled() { return counter("read0", "link_shm_pulled"); }
  static std::uint64_t unpulled() { return counter("read0", "link_shm_unpulled"); }
};

struct CaptureFile {
  CaptureFile() { close(mkstemp(path)); }
  ~CaptureFile() { unlink(path); }
  char path[32] = "/tmp/verbs-read-XXXXXX";
};

}  // namespace

TEST_CASE("the requester copies what it reads, which its counters tell") {
  configure("read0,link=shm;read1,link=shm");
  Readers readers;
  for (std::uint8_t round = 0; round < 4; ++round) readers.read(round);
  CHECK(Readers::pulled() >= 12);  // 4 of each READ; the first look for a peer may be too early
  CHECK(Readers::unpulled() == 0);
  CHECK(counter("read1", "link_shm_pulled") == 0);
}

TEST_CASE("READ responses have their payload where an end captures packets or has a fault plan") {
  const CaptureFile file;
  const std::string capture = std::string(",capture=") + file.path, faults = ",drop=0.01,duplicate=0.01,corrupt=0.01";
  std::string first, second;
  SUBCASE("a capture at the requester") { first = capture; }
  SUBCASE("a capture at the responder") { second = capture; }
  SUBCASE("faults at the requester") { first = faults; }
  SUBCASE("faults at the responder") { second = faults; }
  configure("read0,link=shm" + first + ";read1,link=shm" + second);
  Readers readers;
  for (std::uint8_t round = 0; round < 4; ++round) readers.read(round);
  CHECK(Readers::pulled() + Readers::unpulled() == 0);
}

TEST_CASE("a kernel that forbids the access leaves READs as they were") {
  configure("read0,link=shm;read1,link=shm");
  Readers readers;
  for (std::uint8_t round = 0; round < 2; ++round) readers.read(round);
  REQUIRE(Readers::pulled() > 0);
  std::thread([&] {
    REQUIRE(refuse_call(SYS_process_vm_readv, EPERM));  // of this thread
    // Not each READ is: on a busy machine the helper thread takes responses as well.
    for (int round = 2; round < 10'000 && Readers::unpulled() == 0; ++round)
      readers.read(static_cast<std::uint8_t>(round));
  }).join();
  CHECK(Readers::unpulled() > 0);
  readers.read(200);
}

TEST_CASE("an implicit region is read, and an address that is not mapped there ends as over any link") {
  configure("read0,link=shm;read1,link=shm");
  Readers readers;
  readers.read(1);
  ibv_mr* all = ibv_reg_mr(readers.b.pd, nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ);
  REQUIRE(all);
  void* gone = mmap(nullptr, kReadBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(gone, 0x3c, kReadBytes);
  const auto read = [&] {
    ibv_sge sge;
    ibv_send_wr wr = readers.a.request(&sge, IBV_WR_RDMA_READ, 0, kReadBytes), *bad = nullptr;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(gone);
    wr.wr.rdma.rkey = all->rkey;
    REQUIRE(ibv_post_send(readers.a.qp, &wr, &bad) == 0);
    return readers.a.poll().status;
  };
  const std::uint64_t before = Readers::pulled();
  CHECK(read() == IBV_WC_SUCCESS);
  CHECK(Readers::pulled() == before + 4);
  CHECK(readers.a.memory == std::vector<std::uint8_t>(kReadBytes, 0x3c));
  munmap(gone, kReadBytes);
  CHECK(read() == IBV_WC_REM_ACCESS_ERR);
  CHECK(Readers::unpulled() > 0);
  CHECK(ibv_dereg_mr(all) == 0);
}
