// Shared receive queues through the exported functions.
#include <atomic>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

ibv_srq* create_srq(ibv_pd* pd, std::uint32_t max_wr) {
  ibv_srq_init_attr attr{.srq_context = pd, .attr = {.max_wr = max_wr, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = ibv_create_srq(pd, &attr);
  REQUIRE(srq);
  CHECK(attr.attr.max_wr >= max_wr);
  return srq;
}

// The QP of an End, over a shared queue instead of its own.
ibv_srq* share(End& end, std::uint32_t max_wr) {
  ibv_srq* srq = create_srq(end.pd, max_wr);
  REQUIRE(ibv_destroy_qp(end.qp) == 0);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = end.cq;
  attr.srq = srq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 99, .max_send_sge = 1, .max_recv_sge = 99, .max_inline_data = 0};
  end.qp = ibv_create_qp(end.pd, &attr);
  REQUIRE(end.qp);
  CHECK(attr.cap.max_recv_wr == 0);
  CHECK(end.qp->srq == srq);
  return srq;
}

int post(End& end, ibv_srq* srq, std::uint64_t wr_id, int count = 1) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(end.memory.data()), 4096, end.mr->lkey};
  ibv_recv_wr wr{};
  wr.wr_id = wr_id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  int error = 0;
  for (int i = 0; i < count && error == 0; ++i) error = ibv_post_srq_recv(srq, &wr, &bad);
  if (error != 0) CHECK(bad == &wr);
  return error;
}

}  // namespace

TEST_CASE("messages arrive in a shared receive queue, and its limit is an event that has to be acknowledged") {
  configure("srq0,link=process;srq1,link=process");
  End a("srq0"), b("srq1");
  ibv_srq* srq = share(b, 4);
  std::uint32_t number = 0;
  CHECK(ibv_get_srq_num(srq, &number) == 0);
  CHECK(number != 0);
  a.connect(b);
  b.connect(a);
  REQUIRE(post(b, srq, 77, 4) == 0);
  CHECK(post(b, srq, 77) == ENOMEM);
  ibv_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = 4};
  REQUIRE(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == 0);
  REQUIRE(a.send(0, 100) == 0);
  const ibv_wc wc = b.poll();
  CHECK(wc.wr_id == 77);
  CHECK(wc.qp_num == b.qp->qp_num);
  CHECK(a.poll().status == IBV_WC_SUCCESS);

  ibv_async_event event{};
  do {
    REQUIRE(ibv_get_async_event(b.context.get(), &event) == 0);
    if (event.event_type == IBV_EVENT_COMM_EST) ibv_ack_async_event(&event);
  } while (event.event_type == IBV_EVENT_COMM_EST);
  CHECK(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
  CHECK(event.element.srq == srq);
  REQUIRE(ibv_query_srq(srq, &attr) == 0);
  CHECK(attr.max_wr == 4);
  CHECK(attr.srq_limit == 0);

  CHECK(ibv_destroy_srq(srq) == EBUSY);
  REQUIRE(ibv_destroy_qp(b.qp) == 0);
  b.qp = nullptr;
  std::atomic<bool> destroyed{false};
  std::thread closer([&] {
    CHECK(ibv_destroy_srq(srq) == 0);
    destroyed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(destroyed);  // the event is not acknowledged yet
  ibv_ack_async_event(&event);
  closer.join();
}

TEST_CASE("the extended creation of a shared queue") {
  configure("srq2,link=process;srq3,link=process");
  End end("srq2"), other("srq3");
  ibv_srq_init_attr_ex attr{};
  attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
  attr.srq_type = IBV_SRQT_BASIC;
  CHECK(ibv_create_srq_ex(end.context.get(), &attr) == nullptr);
  CHECK(errno == EINVAL);  // without a PD
  attr.pd = end.pd;
  attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  attr.srq_type = IBV_SRQT_BASIC;
  ibv_srq* srq = ibv_create_srq_ex(end.context.get(), &attr);
  REQUIRE(srq);
  CHECK(srq->pd == end.pd);

  ibv_qp_init_attr foreign{};
  foreign.send_cq = foreign.recv_cq = other.cq;
  foreign.qp_type = IBV_QPT_RC;
  foreign.srq = srq;
  CHECK(ibv_create_qp(other.pd, &foreign) == nullptr);
  CHECK(errno == EINVAL);  // of another device
  CHECK(ibv_destroy_srq(srq) == 0);
}
