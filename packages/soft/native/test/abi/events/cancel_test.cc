// pthread_cancel: functions that wait are cancellation points while they wait, others are none.
#include <atomic>
#include <thread>
#include <utility>

#include "test/abi/support/device_pair.h"
#include "test/abi/support/victim.h"

using namespace verbs::soft::test;

namespace {

void exchange(End& a, End& b, int times) {
  for (int i = 0; i < times; ++i) {
    REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
    REQUIRE(b.post_recv(0, 4096) == 0);
    REQUIRE(a.send(0, 4096) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    REQUIRE(b.poll().status == IBV_WC_SUCCESS);
    REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 100'000) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    REQUIRE(a.rdma(IBV_WR_RDMA_READ, b, 100'000) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
  }
}

// Objects of all kinds, from the device's opening to its close, and packets between two devices.
void tour() {
  End a("x", IBV_QPT_RC, true), b("y", IBV_QPT_RC, true);
  ibv_device_attr attr{};
  REQUIRE(ibv_query_device(a.context.get(), &attr) == 0);
  ibv_port_attr port{};
  REQUIRE(ibv_query_port(a.context.get(), 1, &port) == 0);
  a.connect(b);
  b.connect(a);
  exchange(a, b, 20);
  ibv_ah_attr to = End::address_of(b);
  ibv_ah* ah = ibv_create_ah(a.pd, &to);
  REQUIRE(ah);
  REQUIRE(ibv_destroy_ah(ah) == 0);
  ibv_srq_init_attr shared{};
  shared.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  ibv_srq* srq = ibv_create_srq(a.pd, &shared);
  REQUIRE(srq);
  REQUIRE(ibv_destroy_srq(srq) == 0);
  ibv_mw* window = ibv_alloc_mw(a.pd, IBV_MW_TYPE_1);
  REQUIRE(window);
  REQUIRE(ibv_dealloc_mw(window) == 0);
  REQUIRE(ibv_resize_cq(a.cq, 128) == 0);
  char path[64];
  REQUIRE(ibv_read_sysfs_file("/sys/class/infiniband/x", "node_type", path, sizeof path) != 0);
  ibv_gid_entry gids[4];
  REQUIRE(ibv_query_gid_table(a.context.get(), gids, 4, 0) > 0);
  // The devices close here.
}

void wait_for_completion(const End& end) {
  ibv_cq* cq = nullptr;
  void* data = nullptr;
  if (ibv_get_cq_event(end.channel, &cq, &data) == 0) ibv_ack_cq_events(cq, 1);
}

}  // namespace

TEST_CASE("a cancellation waits for the end of each call of another kind, and of the data path") {
  const std::string one = ",addr=" + local_address(91), two = ",addr=" + local_address(92);
  std::string link;
  SUBCASE("in one process") { link = ""; }
  SUBCASE("by sockets") { link = ",link=udp"; }
  SUBCASE("by shared memory") { link = ",link=shm"; }
  SUBCASE("with a capture") { link = ",capture=/dev/null"; }
  configure("x" + link + one + ";y" + link + two);
  Victim victim([] {
    pthread_cancel(pthread_self());
    tour();
  });
  CHECK(victim.join());
  CHECK(victim.returned());
}

TEST_CASE("a thread that waits for a completion is cancelled, and others go on") {
  const std::string one = ",addr=" + local_address(91), two = ",addr=" + local_address(92);
  configure("x,link=udp" + one + ";y,link=udp" + two);
  End a("x"), b("y", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
    Victim first([&] { wait_for_completion(b); });
    usleep(20'000);
    Victim second([&] { wait_for_completion(b); });  // beside the one that makes the progress
    usleep(20'000);
    CHECK(second.cancel());
    CHECK(first.cancel());
    CHECK_FALSE(first.returned());
    std::thread other([&] { wait_for_completion(b); });
    usleep(20'000);
    REQUIRE(b.post_recv(0, 64) == 0);
    REQUIRE(a.send(0, 64) == 0);
    other.join();
    CHECK(b.poll().status == IBV_WC_SUCCESS);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
  }
}

TEST_CASE("a program may switch cancellation off, also while it waits") {
  configure("x");
  End a("x", IBV_QPT_RC, true);
  std::atomic<bool> woken{false};
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  Victim victim([&] {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    wait_for_completion(a);
    woken = true;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  });
  REQUIRE(ibv_req_notify_cq(a.cq, 0) == 0);
  a.to_init();
  REQUIRE(a.post_recv(0, 64) == 0);
  usleep(20'000);
  std::thread canceller([&] { CHECK(victim.cancel()); });
  usleep(20'000);
  CHECK_FALSE(woken);
  REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);  // flushes the request
  canceller.join();
  CHECK(woken);
}

TEST_CASE("a thread that waits for an asynchronous event is cancelled") {
  configure("x");
  const Context context = open_device("x");
  for (int i = 0; i < 2; ++i) {
    Victim victim([&] {
      ibv_async_event event{};
      ibv_get_async_event(context.get(), &event);
    });
    usleep(20'000);
    CHECK(victim.cancel());
    CHECK_FALSE(victim.returned());
  }
}

TEST_CASE("a thread that destroys a queue, and waits for an acknowledgement, is cancelled, and the queue is gone") {
  configure("x");
  End a("x", IBV_QPT_RC, true);
  a.to_init();
  REQUIRE(ibv_req_notify_cq(a.cq, 0) == 0);
  REQUIRE(a.post_recv(0, 64) == 0);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  REQUIRE(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE) == 0);
  ibv_cq* cq = nullptr;
  void* data = nullptr;
  REQUIRE(ibv_get_cq_event(a.channel, &cq, &data) == 0);
  REQUIRE(ibv_destroy_qp(std::exchange(a.qp, nullptr)) == 0);
  Victim victim([&] { ibv_destroy_cq(a.cq); });
  usleep(20'000);
  CHECK_FALSE(victim.returned());
  CHECK(victim.cancel());
  CHECK(ibv_destroy_cq(std::exchange(a.cq, nullptr)) != 0);
  ibv_ack_cq_events(cq, 1);  // of no queue any more
}
