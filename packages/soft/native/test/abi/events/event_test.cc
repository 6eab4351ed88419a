// Completion channels, asynchronous events, and that destroying waits for acknowledgements.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>

#include <thread>

#include "test/abi/support/device_pair.h"
#include "test/abi/support/readable.h"

using namespace verbs::soft::test;

TEST_CASE("a blocked ibv_get_cq_event makes its own progress") {
  for (const char* text : {"a;b", "a,link=udp;b,link=udp"}) {
    configure(text);
    End a("a"), b("b", IBV_QPT_RC, true);
    a.connect(b);
    b.connect(a);
    for (int i = 0; i < 20; ++i) {
      REQUIRE(b.post_recv(0, 64) == 0);
      REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
      std::thread sender([&] { CHECK(a.send(0, 64) == 0); });
      ibv_cq* cq = nullptr;
      void* context = nullptr;
      REQUIRE(ibv_get_cq_event(b.channel, &cq, &context) == 0);
      CHECK(cq == b.cq);
      CHECK(context == &b);
      ibv_ack_cq_events(cq, 1);
      CHECK(b.poll().status == IBV_WC_SUCCESS);
      sender.join();
      CHECK(a.poll().status == IBV_WC_SUCCESS);
    }
  }
}

TEST_CASE("the channel's descriptor wakes an event loop, and is empty after the event") {
  configure("a,link=udp;b,link=udp");
  End a("a"), b("b", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  REQUIRE(fcntl(b.channel->fd, F_SETFL, fcntl(b.channel->fd, F_GETFL) | O_NONBLOCK) == 0);
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  CHECK(ibv_get_cq_event(b.channel, &cq, &context) == -1);
  CHECK(errno == EAGAIN);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(b.post_recv(0, 64) == 0);
    REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
    CHECK_FALSE(readable(b.channel->fd, 0));
    REQUIRE(a.send(0, 64) == 0);
    REQUIRE(readable(b.channel->fd, kLong));
    REQUIRE(ibv_get_cq_event(b.channel, &cq, &context) == 0);
    CHECK_FALSE(readable(b.channel->fd, 0));
    ibv_ack_cq_events(cq, 1);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
  }
}

TEST_CASE("destroying a CQ waits until its events are acknowledged, and drops events that were not fetched") {
  configure("d0");
  End a("d0"), b("d0", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 64) == 0);
  REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
  REQUIRE(a.send(0, 64) == 0);
  REQUIRE(readable(b.channel->fd, kLong));
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  REQUIRE(ibv_get_cq_event(b.channel, &cq, &context) == 0);
  REQUIRE(ibv_destroy_qp(b.qp) == 0);
  b.qp = nullptr;
  std::atomic<bool> acknowledged{false};
  std::thread other([&] {
    acknowledged = true;
    ibv_ack_cq_events(cq, 1);
  });
  CHECK(ibv_destroy_cq(b.cq) == 0);
  CHECK(acknowledged);
  other.join();
  b.cq = nullptr;

  // Now one that is never fetched.
  End c("d0", IBV_QPT_RC, true), e("d0");
  c.connect(e);
  e.connect(c);
  REQUIRE(c.post_recv(0, 64) == 0);
  REQUIRE(ibv_req_notify_cq(c.cq, 0) == 0);
  REQUIRE(e.send(0, 64) == 0);
  REQUIRE(readable(c.channel->fd, kLong));
  REQUIRE(ibv_destroy_qp(c.qp) == 0);
  c.qp = nullptr;
  REQUIRE(ibv_destroy_cq(c.cq) == 0);
  c.cq = nullptr;
  CHECK_FALSE(readable(c.channel->fd, 0));
}

TEST_CASE("an asynchronous event names its queue pair, whose destruction waits for the acknowledgement") {
  configure("e0");
  End a("e0"), b("e0");
  a.connect(b);
  b.connect(a);
  // The first message to a queue pair in RTS raises no event; a request with an invalid key raises one at b.
  REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 64, 0xff) == 0);
  CHECK(a.poll().status == IBV_WC_REM_ACCESS_ERR);
  REQUIRE(readable(b.context->async_fd, kLong));
  ibv_async_event event{};
  REQUIRE(ibv_get_async_event(b.context.get(), &event) == 0);
  CHECK(event.event_type == IBV_EVENT_QP_ACCESS_ERR);
  CHECK(event.element.qp == b.qp);
  std::atomic<bool> acknowledged{false};
  std::thread other([&] {
    acknowledged = true;
    ibv_ack_async_event(&event);
  });
  CHECK(ibv_destroy_qp(b.qp) == 0);
  CHECK(acknowledged);
  other.join();
  b.qp = nullptr;
}
