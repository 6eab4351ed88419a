// Work requests through the exported functions, within a process and through UDP sockets.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr const char* kLinks[] = {"a,link=auto;b,link=auto", "a,link=process;b,link=process", "a,link=udp;b,link=udp"};

void fill(std::vector<std::uint8_t>* memory, std::uint8_t first) {
  for (std::size_t i = 0; i < memory->size(); ++i) (*memory)[i] = static_cast<std::uint8_t>(first + i * 7);
}

}  // namespace

TEST_CASE("SEND, WRITE and READ between two devices arrive, on every link") {
  for (const char* text : kLinks) {
    CAPTURE(text);
    configure(text);
    End a("a"), b("b");
    a.connect(b);
    b.connect(a);
    fill(&a.memory, 3);
    REQUIRE(b.post_recv(0, 100'000) == 0);
    REQUIRE(a.send(0, 100'000) == 0);
    const ibv_wc received = b.poll();
    CHECK(received.status == IBV_WC_SUCCESS);
    CHECK(received.byte_len == 100'000);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    CHECK(std::memcmp(a.memory.data(), b.memory.data(), 100'000) == 0);

    // Nobody polls for b now: its helper thread answers.
    fill(&a.memory, 9);
    REQUIRE(a.rdma(IBV_WR_RDMA_WRITE, b, 50'000) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    CHECK(std::memcmp(a.memory.data(), b.memory.data(), 50'000) == 0);
    std::memset(a.memory.data(), 0, 50'000);
    REQUIRE(a.rdma(IBV_WR_RDMA_READ, b, 50'000) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    CHECK(std::memcmp(a.memory.data(), b.memory.data(), 50'000) == 0);
  }
}

TEST_CASE("two queue pairs of one device talk to each other") {
  configure("self0");
  End a("self0"), b("self0");
  a.connect(b);
  b.connect(a);
  fill(&a.memory, 1);
  REQUIRE(b.post_recv(0, 4096) == 0);
  REQUIRE(a.send(0, 4096) == 0);
  CHECK(b.poll().byte_len == 4096);
  CHECK(a.poll().status == IBV_WC_SUCCESS);
  CHECK(std::memcmp(a.memory.data(), b.memory.data(), 4096) == 0);
}

TEST_CASE("a list that was posted leaves bad_wr as it was, and one that was not says where it failed") {
  configure("self0");
  End a("self0"), b("self0");
  a.connect(b);
  b.connect(a);
  ibv_send_wr other_send{}, *bad_send = &other_send;
  ibv_recv_wr other_recv{}, *bad_recv = &other_recv;
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(b.memory.data()), 64, b.mr->lkey};
  ibv_recv_wr recv{};
  recv.sg_list = &sge;
  recv.num_sge = 1;
  CHECK(ibv_post_recv(b.qp, &recv, &bad_recv) == 0);
  CHECK(bad_recv == &other_recv);
  ibv_sge from;
  ibv_send_wr send = a.request(&from, IBV_WR_SEND, 0, 64);
  CHECK(ibv_post_send(a.qp, &send, &bad_send) == 0);
  CHECK(bad_send == &other_send);
  ibv_recv_wr second = recv;
  second.num_sge = 99;
  recv.next = &second;
  CHECK(ibv_post_recv(b.qp, &recv, &bad_recv) == EINVAL);
  CHECK(bad_recv == &second);
  send.num_sge = 99;
  CHECK(ibv_post_send(a.qp, &send, &bad_send) == EINVAL);
  CHECK(bad_send == &send);

  ibv_srq_init_attr attr{};
  attr.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ibv_srq* srq = ibv_create_srq(a.pd, &attr);
  REQUIRE(srq);
  bad_recv = &other_recv;
  recv.next = nullptr;
  CHECK(ibv_post_srq_recv(srq, &recv, &bad_recv) == 0);
  CHECK(bad_recv == &other_recv);
  CHECK(ibv_post_srq_recv(srq, &second, &bad_recv) == EINVAL);
  CHECK(bad_recv == &second);
}

TEST_CASE("a datagram's sender can be answered from its completion") {
  for (const char* text : {"a;b", "a,link=process,addr=::1"}) {
    configure(text);
    End a("a", IBV_QPT_UD), b("a", IBV_QPT_UD);
    for (End* end : {&a, &b}) {
      end->to_init();
      ibv_qp_attr attr{};
      attr.qp_state = IBV_QPS_RTR;
      REQUIRE(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE) == 0);
      attr.qp_state = IBV_QPS_RTS;
      REQUIRE(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
    }
    const auto send_to = [](End& from, ibv_ah* ah, std::uint32_t qpn) {
      ibv_sge sge;
      ibv_send_wr wr = from.request(&sge, IBV_WR_SEND, std::size_t{512} * 1024, 200), *bad = nullptr;
      wr.wr.ud.ah = ah;
      wr.wr.ud.remote_qpn = qpn;
      wr.wr.ud.remote_qkey = 0x1234;
      return ibv_post_send(from.qp, &wr, &bad);
    };
    ibv_ah_attr to_b = End::address_of(b);
    to_b.grh.traffic_class = 0x20;
    ibv_ah* ah = ibv_create_ah(a.pd, &to_b);
    REQUIRE(ah);
    REQUIRE(b.post_recv(0, 300) == 0);
    REQUIRE(send_to(a, ah, b.qp->qp_num) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    ibv_wc wc = b.poll();
    REQUIRE(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.byte_len == 240);
    CHECK(wc.src_qp == a.qp->qp_num);

    auto* grh = reinterpret_cast<ibv_grh*>(b.memory.data());
    ibv_ah_attr back{};
    REQUIRE(ibv_init_ah_from_wc(b.context.get(), 1, &wc, grh, &back) == 0);
    CHECK(back.is_global == 1);
    CHECK(back.grh.sgid_index == 0);
    CHECK(back.grh.traffic_class == 0x20);
    CHECK(std::memcmp(&back.grh.dgid, &a.gid, sizeof a.gid) == 0);
    CHECK(ibv_init_ah_from_wc(b.context.get(), 1, &wc, nullptr, &back) == -1);
    CHECK(errno == EINVAL);
    ibv_ah* answer = ibv_create_ah_from_wc(b.pd, &wc, grh, 1);
    REQUIRE(answer);
    REQUIRE(a.post_recv(0, 300) == 0);
    REQUIRE(send_to(b, answer, wc.src_qp) == 0);
    CHECK(a.poll().byte_len == 240);
    CHECK(ibv_dealloc_pd(a.pd) == EBUSY);
    CHECK(ibv_destroy_ah(answer) == 0);
    CHECK(ibv_destroy_ah(ah) == 0);

    ibv_ah_attr local = to_b;
    local.is_global = 0;
    CHECK(ibv_create_ah(a.pd, &local) == nullptr);
    CHECK(errno == EINVAL);
  }
}

TEST_CASE("a port with several addresses sends from each of them") {
  configure("m,addr=" + local_address(61) + ",addr=" + local_address(62) + ",link=udp;n,addr=" + local_address(63) +
            ",link=udp");
  for (std::uint8_t index = 0; index < 2; ++index) {
    End m("m"), n("n");
    REQUIRE(ibv_query_gid(m.context.get(), 1, index, &m.gid) == 0);
    n.connect(m);
    m.connect(n);
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    // Connect anew from the other address.
    attr.qp_state = IBV_QPS_RESET;
    REQUIRE(ibv_modify_qp(m.qp, &attr, IBV_QP_STATE) == 0);
    CHECK(m.qp->state == IBV_QPS_RESET);
    m.to_init();
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = n.qp->qp_num;
    attr.ah_attr = End::address_of(n);
    attr.ah_attr.grh.sgid_index = index;
    REQUIRE(ibv_modify_qp(m.qp, &attr,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    REQUIRE(ibv_modify_qp(m.qp, &attr,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                              IBV_QP_MAX_QP_RD_ATOMIC) == 0);
    REQUIRE(ibv_query_qp(m.qp, &attr, IBV_QP_STATE, &init) == 0);
    CHECK(attr.qp_state == IBV_QPS_RTS);
    CHECK(init.send_cq == m.cq);
    REQUIRE(n.post_recv(0, 5000) == 0);
    REQUIRE(m.send(0, 5000) == 0);
    CHECK(n.poll().byte_len == 5000);
    CHECK(m.poll().status == IBV_WC_SUCCESS);
  }
}

TEST_CASE("objects in use cannot be destroyed, and closing a context destroys the remaining objects") {
  configure("busy0");
  auto end = std::make_unique<End>("busy0", IBV_QPT_RC, true);
  CHECK(ibv_dealloc_pd(end->pd) == EBUSY);
  CHECK(ibv_destroy_cq(end->cq) == EBUSY);
  CHECK(ibv_destroy_comp_channel(end->channel) == EBUSY);
  CHECK(ibv_create_cq(end->context.get(), 0, nullptr, nullptr, 0) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(ibv_create_cq(end->context.get(), 1, nullptr, nullptr, end->context->num_comp_vectors) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(verbs_soft_configure("other") == EBUSY);
  end->qp = nullptr;  // the closing context has to destroy these
  end->cq = nullptr;
  end->channel = nullptr;
  ibv_context* context = end->context.release();
  ibv_mr* mr = end->mr;
  CHECK(mr->handle != end->pd->handle);
  CHECK(ibv_close_device(context) == 0);
  configure("other");
}

TEST_CASE("a busy poller does not keep another thread from posting") {
  configure("p;q");
  End p("p"), q("q");
  p.connect(q);
  q.connect(p);
  constexpr int kMessages = 200;
  constexpr int kRoom = 8;  // half of the receive queue: while the poller does not run, the helper thread fills it
  std::atomic<int> polled{0};
  std::thread poller([&] {
    ibv_wc wc;
    while (polled < kMessages) polled += std::max(0, ibv_poll_cq(q.cq, 1, &wc));
  });
  for (int i = 0; i < kMessages; ++i) {
    while (i - polled > kRoom) std::this_thread::yield();
    REQUIRE(q.post_recv(0, 64) == 0);
    REQUIRE(p.send(0, 64) == 0);
    CHECK(p.poll().status == IBV_WC_SUCCESS);
  }
  poller.join();
}
