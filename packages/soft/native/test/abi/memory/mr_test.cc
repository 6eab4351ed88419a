// Memory regions through the exported functions.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr int kLocal = IBV_ACCESS_LOCAL_WRITE;

struct Domain {
  explicit Domain(const char* device) : context(open_device(device)), pd(ibv_alloc_pd(context.get())) { REQUIRE(pd); }
  Context context;
  ibv_pd* pd;
};

}  // namespace

TEST_CASE("a re-registered region shows its new place, and errors come with the code of the manual") {
  configure("mr0");
  Domain domain("mr0");
  std::vector<char> first(4096), second(8192);
  ibv_mr* mr = ibv_reg_mr(domain.pd, first.data(), first.size(), kLocal);
  REQUIRE(mr);
  ibv_pd* other = ibv_alloc_pd(domain.context.get());
  CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD, other, second.data(), second.size(),
                     0) == 0);
  CHECK(mr->addr == second.data());
  CHECK(mr->length == second.size());
  CHECK(mr->pd == other);
  CHECK(ibv_dealloc_pd(other) == EBUSY);

  const auto rejected = [&](int flags, ibv_pd* pd, void* addr, std::size_t length, int access) {
    errno = 0;
    return ibv_rereg_mr(mr, flags, pd, addr, length, access);
  };
  CHECK(rejected(1 << 3, nullptr, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT);
  CHECK(errno == EINVAL);
  CHECK(rejected(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, nullptr, 10, 0) == IBV_REREG_MR_ERR_INPUT);
  CHECK(rejected(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, first.data(), 0, 0) == IBV_REREG_MR_ERR_INPUT);
  CHECK(rejected(IBV_REREG_MR_CHANGE_PD, nullptr, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT);
  CHECK(rejected(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, first.data(), 10, kLocal) == IBV_REREG_MR_ERR_INPUT);
  CHECK(rejected(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE) == IBV_REREG_MR_ERR_CMD);
  CHECK(errno == EINVAL);
  CHECK(rejected(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, reinterpret_cast<void*>(16), 10, 0) == IBV_REREG_MR_ERR_CMD);
  CHECK(errno == EFAULT);
  CHECK(mr->addr == second.data());  // as it was
  CHECK(mr->length == second.size());

  CHECK(ibv_dereg_mr(mr) == 0);
  CHECK(ibv_dealloc_pd(other) == 0);
}

TEST_CASE("a null region has an lkey only and cannot be re-registered") {
  configure("mr0");
  Domain domain("mr0");
  ibv_mr* mr = ibv_alloc_null_mr(domain.pd);
  REQUIRE(mr);
  CHECK(mr->lkey != 0);
  CHECK(mr->rkey == 0);
  CHECK(mr->addr == nullptr);
  CHECK(mr->length == SIZE_MAX);
  CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kLocal) == IBV_REREG_MR_ERR_INPUT);
  CHECK(ibv_dealloc_pd(domain.pd) == EBUSY);
  CHECK(ibv_dereg_mr(mr) == 0);
}

TEST_CASE("advice reads pages in, and reports errors") {
  configure("mr0");
  Domain domain("mr0");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t size = 8 * page;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  ibv_mr* mr = ibv_reg_mr(domain.pd, memory, size, kLocal | IBV_ACCESS_ON_DEMAND);
  REQUIRE(mr);
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory) + 1, static_cast<std::uint32_t>(3 * page), mr->lkey};
  const auto advise = [&](ibv_advise_mr_advice advice, std::uint32_t flags) {
    return ibv_advise_mr(domain.pd, advice, flags, &sge, 1);
  };
  const auto present = [&] {
    unsigned char there[8];
    REQUIRE(mincore(memory, size, there) == 0);
    int count = 0;
    for (const unsigned char one : there) count += one & 1;
    return count;
  };
  CHECK(present() == 0);
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, IBV_ADVISE_MR_FLAG_FLUSH) == 0);
  CHECK(present() == 0);
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0) == 0);
  CHECK(present() == 4);  // kernels before 5.14 leave it to the access
  CHECK(static_cast<char*>(memory)[page] == 0);
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH) == 0);

  CHECK(advise(static_cast<ibv_advise_mr_advice>(9), 0) == EOPNOTSUPP);
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 2) == EINVAL);
  CHECK(ibv_advise_mr(domain.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 0) == EINVAL);
  munmap(static_cast<char*>(memory) + 2 * page, page);
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH) == EFAULT);
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0) == 0);  // without IBV_ADVISE_MR_FLAG_FLUSH no error is reported
  sge.lkey ^= 1;
  CHECK(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0) == ENOENT);
  CHECK(ibv_dereg_mr(mr) == 0);
  munmap(memory, size);
}
