// Memory regions: registration, re-registration, and their effect on transfers.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "test/nic/virtual_network.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

constexpr unsigned kLocal = IBV_ACCESS_LOCAL_WRITE;
constexpr unsigned kRemote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

// Pages that tests map and unmap.
struct Pages {
  explicit Pages(std::size_t pages, int protection = PROT_READ | PROT_WRITE)
      : size(pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        at(static_cast<std::uint8_t*>(mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(at != MAP_FAILED);
  }
  ~Pages() { munmap(at, size); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::size_t size;
  std::uint8_t* at;
};

struct RegionPair {
  RegionPair() : qa(net.a.create_qp(IBV_QPT_RC)), qb(net.b.create_qp(IBV_QPT_RC)) { net.connect(qa, qb); }

  ibv_wc_status write(std::uint64_t to, std::uint32_t rkey, std::vector<std::uint8_t>& from) {
    nic::Mr* mr = net.a.reg(from.data(), from.size());
    REQUIRE(post_send(net.a, qa,
                      {.opcode = IBV_WR_RDMA_WRITE,
                       .sges = {sge_of(from.data(), static_cast<std::uint32_t>(from.size()), mr)},
                       .remote_addr = to,
                       .rkey = rkey}) == 0);
    net.run();
    const auto done = net.a.poll();
    REQUIRE(done.size() == 1);
    CHECK(net.a.nic->mrs().dereg(mr) == 0);
    return done[0].status;
  }

  VirtualNetwork net;
  nic::Qp* qa;
  nic::Qp* qb;
};

std::uint64_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

// Both steps and the check between them, as ibv_rereg_mr() does.
int rereg(nic::Nic& nic, nic::Mr* mr, int flags, nic::Pd* pd, void* at, std::size_t size, unsigned access) {
  nic::Rereg plan;
  if (const int error = nic::MrTable::plan_rereg(mr, flags, at, size, access, &plan)) return error;
  if (plan.changes_memory) {
    if (const int error = nic::check_region(plan.address, plan.length, plan.access)) return error;
  }
  return nic.mrs().rereg(mr, plan, pd);
}

}  // namespace

TEST_CASE("a region's remote address is the one of its registration") {
  RegionPair pair;
  std::vector<std::uint8_t> data = pattern(3000), memory(8192);
  nic::Mr* mr = nullptr;
  std::uint64_t to = 0;
  SUBCASE("any iova") {
    to = 0x123456789abcdef1;
    REQUIRE(pair.net.b.nic->mrs().reg(pair.net.b.pd, memory.data(), memory.size(), to, kRemote, &mr) == 0);
  }
  SUBCASE("an iova at the end of the address space") {
    to = UINT64_MAX - 8191;
    REQUIRE(pair.net.b.nic->mrs().reg(pair.net.b.pd, memory.data(), memory.size(), to, kRemote, &mr) == 0);
  }
  SUBCASE("zero based") {
    REQUIRE(pair.net.b.nic->mrs().reg(pair.net.b.pd, memory.data(), memory.size(), address(memory.data()),
                                      kRemote | IBV_ACCESS_ZERO_BASED, &mr) == 0);
  }
  CHECK(pair.write(to + 100, mr->rkey(), data) == IBV_WC_SUCCESS);
  CHECK(std::memcmp(memory.data() + 100, data.data(), data.size()) == 0);
  CHECK(pair.write(to + 8192 - 2999, mr->rkey(), data) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("registrations that fail") {
  VirtualNetwork net;
  Pages pages(2), readable(1, PROT_READ);
  nic::Mr* mr = nullptr;
  const auto reg = [&](void* at, std::size_t size, unsigned access) {
    const int error = nic::check_region(at, size, access);
    return error != 0 ? error : net.a.nic->mrs().reg(net.a.pd, at, size, address(at), access, &mr);
  };
  CHECK(reg(pages.at, 0, kLocal) == EINVAL);
  CHECK(reg(pages.at + 100, 0, kLocal) == 0);
  CHECK(mr->length == 0);
  CHECK(reg(readable.at + 100, 0, kLocal) == EFAULT);
  CHECK(reg(pages.at + 100, 0, kLocal | IBV_ACCESS_ON_DEMAND) == 0);
  CHECK(reg(nullptr, 0, kLocal | IBV_ACCESS_ON_DEMAND) == EINVAL);
  CHECK(reg(pages.at, 16, IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  CHECK(reg(pages.at, 16, IBV_ACCESS_REMOTE_ATOMIC) == EINVAL);
  CHECK(reg(pages.at, 16, 1u << 15) == EINVAL);
  CHECK(reg(pages.at, SIZE_MAX, kLocal) == EINVAL);
  CHECK(reg(readable.at, readable.size, kLocal) == EFAULT);
  CHECK(reg(readable.at, readable.size, IBV_ACCESS_REMOTE_READ) == 0);
  munmap(pages.at + pages.size / 2, pages.size / 2);
  CHECK(reg(pages.at, pages.size, kLocal) == EFAULT);
  CHECK(reg(pages.at, pages.size / 2, kLocal | IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_HUGETLB) == 0);
  CHECK(reg(nullptr, SIZE_MAX, kLocal | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB) == EINVAL);
}

TEST_CASE("re-registration changes the requested properties and keeps the keys") {
  RegionPair pair;
  nic::Nic& nic = *pair.net.b.nic;
  std::vector<std::uint8_t> data = pattern(2000), first(4096), second(4096);
  nic::Mr* mr = pair.net.b.reg(first.data(), first.size());
  const std::uint32_t key = mr->rkey();

  SUBCASE("translation") {
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.data(), 2500, 0) == 0);
    CHECK(mr->rkey() == key);
    CHECK(pair.write(address(second.data()) + 500, key, data) == IBV_WC_SUCCESS);
    CHECK(std::memcmp(second.data() + 500, data.data(), data.size()) == 0);
    CHECK(pair.write(address(first.data()), key, data) == IBV_WC_REM_ACCESS_ERR);
  }
  SUBCASE("access") {
    CHECK(pair.write(address(first.data()), key, data) == IBV_WC_SUCCESS);
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kLocal) == 0);
    CHECK(pair.write(address(first.data()), key, data) == IBV_WC_REM_ACCESS_ERR);
  }
  SUBCASE("access to zero based and back") {
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kRemote | IBV_ACCESS_ZERO_BASED) == 0);
    CHECK(pair.write(0, key, data) == IBV_WC_SUCCESS);
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kRemote) == 0);
    CHECK(pair.write(address(first.data()), key, data) == IBV_WC_SUCCESS);
  }
  SUBCASE("protection domain") {
    nic::Pd* other = nullptr;
    REQUIRE(nic.pds().alloc(&other) == 0);
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_PD, other, nullptr, 0, 0) == 0);
    CHECK(nic.pds().dealloc(other) == EBUSY);
    CHECK(pair.write(address(first.data()), key, data) == IBV_WC_REM_ACCESS_ERR);
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_PD, pair.net.b.pd, nullptr, 0, 0) == 0);
    CHECK(nic.pds().dealloc(other) == 0);
  }
  SUBCASE("everything at once") {
    nic::Pd* other = nullptr;
    REQUIRE(nic.pds().alloc(&other) == 0);
    const int all = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
    CHECK(rereg(nic, mr, all, other, second.data(), second.size(), kLocal) == 0);
    CHECK(pair.write(address(second.data()), key, data) == IBV_WC_REM_ACCESS_ERR);
    CHECK(nic.mrs().dereg(mr) == 0);
    CHECK(nic.pds().dealloc(other) == 0);
  }
  SUBCASE("nothing, when a part of it is refused") {
    nic::Pd* other = nullptr;
    REQUIRE(nic.pds().alloc(&other) == 0);
    Pages gone(1);
    munmap(gone.at, gone.size);
    const int both = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD;
    CHECK(rereg(nic, mr, both, other, gone.at, gone.size, 0) == EFAULT);
    CHECK(rereg(nic, mr, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS, other, nullptr, 0,
                IBV_ACCESS_REMOTE_WRITE) == EINVAL);
    CHECK(nic.pds().dealloc(other) == 0);
    CHECK(pair.write(address(first.data()), key, data) == IBV_WC_SUCCESS);
  }
}

TEST_CASE("a null region reads as zeros, ignores writes, and has a local key only") {
  RegionPair pair;
  nic::Mr* null = nullptr;
  REQUIRE(pair.net.b.nic->mrs().alloc_null(pair.net.b.pd, &null) == 0);
  CHECK(null->rkey() == 0);
  CHECK(rereg(*pair.net.b.nic, null, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kLocal) == EINVAL);
  std::vector<std::uint8_t> data = pattern(5000), memory(5000, 0xee);
  nic::Mr* mr = pair.net.a.reg(data.data(), data.size());
  nic::Mr* behind = pair.net.b.reg(memory.data(), memory.size());

  // The head of a message goes nowhere, its tail to memory.
  REQUIRE(post_recv(pair.net.b, pair.qb, 1, {{77, 3000, null->lkey()}, sge_of(memory.data(), 2000, behind)}) == 0);
  REQUIRE(post_send(pair.net.a, pair.qa, {.sges = {sge_of(data.data(), 5000, mr)}}) == 0);
  pair.net.run();
  CHECK(pair.net.b.poll().at(0).byte_len == 5000);
  CHECK(pair.net.a.poll().at(0).status == IBV_WC_SUCCESS);
  CHECK(std::memcmp(memory.data(), data.data() + 3000, 2000) == 0);
  CHECK(memory[2000] == 0xee);

  // And zeros come out of it, at the end of the address space too.
  REQUIRE(post_recv(pair.net.a, pair.qa, 2, {sge_of(data.data(), 5000, mr)}) == 0);
  REQUIRE(post_send(pair.net.b, pair.qb, {.sges = {{UINT64_MAX - 4999, 4000, null->lkey()}}}) == 0);
  pair.net.run();
  CHECK(pair.net.a.poll().at(0).byte_len == 4000);
  CHECK(std::count(data.begin(), data.begin() + 4000, 0) == 4000);
  pair.net.b.poll();

  std::vector<std::uint8_t> some(16);
  CHECK(pair.write(0, null->lkey(), some) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("an on-demand region needs its memory when it is used") {
  RegionPair pair;
  std::vector<std::uint8_t> data = pattern(1000);
  Pages pages(2);
  std::uint8_t* at = pages.at;
  munmap(at, pages.size);
  nic::Mr* mr = pair.net.b.reg(at, pages.size, kRemote | IBV_ACCESS_ON_DEMAND);
  SUBCASE("there by then") {
    REQUIRE(mmap(at, pages.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    CHECK(pair.write(address(at), mr->rkey(), data) == IBV_WC_SUCCESS);
    CHECK(std::memcmp(at, data.data(), data.size()) == 0);
  }
  SUBCASE("not there") { CHECK(pair.write(address(at), mr->rkey(), data) == IBV_WC_REM_ACCESS_ERR); }
}

TEST_CASE("an implicit on-demand region is all memory, and a wrong address is an error") {
  RegionPair pair;
  std::vector<std::uint8_t> data = pattern(1000), memory(1000);
  nic::Mr* mr = pair.net.b.reg(nullptr, SIZE_MAX, kRemote | IBV_ACCESS_ON_DEMAND);
  CHECK(pair.write(address(memory.data()), mr->rkey(), data) == IBV_WC_SUCCESS);
  CHECK(memory == data);
  std::uint64_t wrong = 0;
  SUBCASE("nothing") { wrong = 0; }
  SUBCASE("no address of this machine") { wrong = 0x0800000000000000; }
  SUBCASE("the kernel's") { wrong = UINT64_MAX - 4095; }
  SUBCASE("beyond the end") { wrong = UINT64_MAX - 10; }
  CHECK(pair.write(wrong, mr->rkey(), data) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("advice names a range of an on-demand region of the domain") {
  VirtualNetwork net;
  nic::Nic& nic = *net.a.nic;
  Pages pages(4);
  nic::Mr* pinned = net.a.reg(pages.at, pages.size, kLocal);
  nic::Mr* mr = net.a.reg(pages.at, pages.size, kLocal | IBV_ACCESS_ON_DEMAND);
  nic::Mr* read_only = net.a.reg(pages.at, pages.size, IBV_ACCESS_ON_DEMAND);
  nic::Pd* other = nullptr;
  REQUIRE(nic.pds().alloc(&other) == 0);
  void* found = nullptr;
  const auto size = static_cast<std::uint32_t>(pages.size);
  CHECK(nic.mrs().advised_range(net.a.pd, sge_of(pages.at + 10, size - 10, mr), true, &found) == 0);
  CHECK(found == pages.at + 10);
  CHECK(nic.mrs().advised_range(net.a.pd, sge_of(pages.at + 10, size, mr), true, &found) == EFAULT);
  CHECK(nic.mrs().advised_range(net.a.pd, {address(pages.at), 1, mr->lkey() ^ 1}, true, &found) == ENOENT);
  CHECK(nic.mrs().advised_range(net.a.pd, {address(pages.at), 1, 0xffffff00}, true, &found) == ENOENT);
  CHECK(nic.mrs().advised_range(other, sge_of(pages.at, 1, mr), true, &found) == EPERM);
  CHECK(nic.mrs().advised_range(net.a.pd, sge_of(pages.at, 1, read_only), true, &found) == EPERM);
  CHECK(nic.mrs().advised_range(net.a.pd, sge_of(pages.at, 1, read_only), false, &found) == 0);
  CHECK(nic.mrs().advised_range(net.a.pd, sge_of(pages.at, 1, pinned), false, &found) == EINVAL);
}
