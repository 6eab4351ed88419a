// Address handles: their creation and destruction by several threads, and addresses that lead nowhere.
#include <atomic>
#include <cerrno>
#include <cstring>
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

TEST_CASE("an address that no route leads to is ENETUNREACH, at an address handle and at RTR") {
  configure("x0,addr=127.0.0.1,link=udp");
  End a("x0");
  ibv_ah_attr attr = End::address_of(a);
  const union ibv_gid own = attr.grh.dgid;
  // TEST-NET-3, from a loopback address: a host without a default route says the same.
  const std::uint8_t nowhere[4] = {203, 0, 113, 9};
  std::memcpy(attr.grh.dgid.raw + 12, nowhere, sizeof nowhere);
  errno = 0;
  CHECK(ibv_create_ah(a.pd, &attr) == nullptr);
  CHECK(errno == ENETUNREACH);

  a.to_init();
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_1024;
  to.dest_qp_num = a.qp->qp_num;
  to.ah_attr = attr;
  const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  CHECK(ibv_modify_qp(a.qp, &to, mask) == ENETUNREACH);
  CHECK(a.qp->state == IBV_QPS_INIT);
  to.ah_attr.grh.dgid = own;
  CHECK(ibv_modify_qp(a.qp, &to, mask) == 0);
}
