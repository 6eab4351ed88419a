// Address handles: their creation and destruction by several threads.
#include <atomic>
#include <thread>
#include <vector>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

TEST_CASE("threads that create and destroy address handles never meet a handle that is not live") {
  configure("x0;y0");
  End a("x0");
  End b("y0");
  ibv_pd* pd = ibv_alloc_pd(a.context.get());
  REQUIRE(pd);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ibv_ah_attr attr = End::address_of(b);
      for (int round = 0; round < 20000; ++round) {
        ibv_ah* ah = ibv_create_ah(pd, &attr);
        if (ah == nullptr || ibv_destroy_ah(ah) != 0) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("an address handle with an altered handle is refused, and is destroyed with the right one") {
  configure("x0;y0");
  End a("x0");
  End b("y0");
  ibv_ah_attr attr = End::address_of(b);
  ibv_ah* ah = ibv_create_ah(a.pd, &attr);
  REQUIRE(ah);
  ibv_ah* other = ibv_create_ah(a.pd, &attr);
  REQUIRE(other);
  const std::uint32_t handle = ah->handle;
  ah->handle = other->handle;
  CHECK(ibv_destroy_ah(ah) == EINVAL);
  for (const std::uint32_t wrong : {handle + 1000, UINT32_MAX}) {
    ah->handle = wrong;
    CHECK(ibv_destroy_ah(ah) == ENOENT);
  }
  ah->handle = handle;
  CHECK(ibv_destroy_ah(ah) == 0);
  CHECK(ibv_destroy_ah(ah) == ENOENT);
  CHECK(ibv_destroy_ah(other) == 0);
}
