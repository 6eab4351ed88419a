// Without memory: events, and who waits for them.
#include <fcntl.h>

#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_object.h"
#include "test/abi/support/readable.h"

using namespace verbs::soft::test;

TEST_CASE("events without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1) + ";y0,addr=" + local_address(2));
  End a("x0"), b("y0", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 64) == 0);
  until_it_succeeds("req_notify_cq", [&] { return ibv_req_notify_cq(b.cq, 0); });
  REQUIRE(a.send(0, 64) == 0);
  REQUIRE(readable(b.channel->fd, kLong));
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  until_it_succeeds("ibv_get_cq_event", [&] { return ibv_get_cq_event(b.channel, &cq, &cq_context); });
  CHECK(cq == b.cq);
  without_allocating("ibv_ack_cq_events", [&] { ibv_ack_cq_events(cq, 1); });
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(a.poll().status == IBV_WC_SUCCESS);

  // A request with a wrong key: an event of the queue pair that gets it.
  REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 64, 0xff) == 0);
  CHECK(a.poll().status == IBV_WC_REM_ACCESS_ERR);
  REQUIRE(readable(b.context->async_fd, kLong));
  ibv_async_event event{};
  until_it_succeeds("ibv_get_async_event", [&] { return ibv_get_async_event(b.context.get(), &event); });
  CHECK(event.element.qp == b.qp);
  without_allocating("ibv_ack_async_event", [&] { ibv_ack_async_event(&event); });
}

TEST_CASE("an event that the NIC has given up is the program's, without memory as well" *
          doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1) + ";y0,addr=" + local_address(2));
  End a("x0"), b("y0", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  REQUIRE(fcntl(b.channel->fd, F_SETFL, O_NONBLOCK) == 0);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  bool lacked_memory = false;
  const auto take_without_memory = [&] {
    const MemoryAgain memory_again;
    fail_allocations_from(1);
    const int result = ibv_get_cq_event(b.channel, &cq, &cq_context);
    lacked_memory = allocation_failed();
    return result;
  };
  // The channel's reader has shown that it copes with EAGAIN, and could not be attached to the sockets.
  CHECK(take_without_memory() == -1);
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
  REQUIRE(a.send(0, 64) == 0);
  REQUIRE(readable(b.channel->fd, kLong));
  REQUIRE(take_without_memory() == 0);
  CHECK(lacked_memory);
  CHECK(cq == b.cq);
  ibv_ack_cq_events(cq, 1);
}

TEST_CASE("destroying what has events needs no memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1) + ";y0,addr=" + local_address(2));
  End a("x0"), b("y0", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
  REQUIRE(a.send(0, 64) == 0);
  REQUIRE(readable(b.channel->fd, kLong));
  until_it_succeeds("ibv_destroy_qp", [&] { return ibv_destroy_qp(b.qp); });
  until_it_succeeds("ibv_destroy_cq", [&] { return ibv_destroy_cq(b.cq); });
  until_it_succeeds("ibv_destroy_comp_channel", [&] { return ibv_destroy_comp_channel(b.channel); });
  b.qp = nullptr;
  b.cq = nullptr;
  b.channel = nullptr;
}
