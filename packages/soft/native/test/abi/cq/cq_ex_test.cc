// Completion queues: ibv_cq_ex, resizing, moderation.
#include <ctime>
#include <thread>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr std::uint64_t kTimes = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

// An end whose QP completes on an extended CQ.
struct ExtendedEnd : End {
  explicit ExtendedEnd(const char* device, std::uint32_t flags = 0, std::uint32_t cqe = 8) : End(device) {
    REQUIRE(ibv_destroy_qp(qp) == 0);
    REQUIRE(ibv_destroy_cq(cq) == 0);
    ibv_cq_init_attr_ex attr{};
    attr.cqe = cqe;
    attr.cq_context = this;
    attr.wc_flags = IBV_WC_STANDARD_FLAGS | kTimes;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attr.flags = flags;
    ex = ibv_create_cq_ex(context.get(), &attr);
    REQUIRE(ex);
    cq = ibv_cq_ex_to_cq(ex);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    qp = ibv_create_qp(pd, &init);
    REQUIRE(qp);
  }

  int start_poll() {
    ibv_poll_cq_attr none{};
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int error = ENOENT;
    while ((error = ibv_start_poll(ex, &none)) == ENOENT && std::chrono::steady_clock::now() < give_up) {
    }
    return error;
  }

  ibv_cq_ex* ex = nullptr;
};

}  // namespace

TEST_CASE("an extended CQ has completions one at a time, with all fields") {
  configure("x0;y0");
  ExtendedEnd a("x0");
  End b("y0");
  a.connect(b);
  b.connect(a);
  ibv_poll_cq_attr none{};
  CHECK(ibv_start_poll(a.ex, &none) == ENOENT);
  ibv_poll_cq_attr unknown{.comp_mask = 1};
  CHECK(ibv_start_poll(a.ex, &unknown) == EINVAL);
  REQUIRE(a.post_recv(0, 100, 51) == 0);
  REQUIRE(a.post_recv(0, 100, 52) == 0);
  timespec before{};
  clock_gettime(CLOCK_REALTIME, &before);
  ibv_sge sge;
  ibv_send_wr wr = b.request(&sge, IBV_WR_SEND_WITH_IMM, 0, 33), *bad = nullptr;
  wr.imm_data = htobe32(9);
  REQUIRE(ibv_post_send(b.qp, &wr, &bad) == 0);
  REQUIRE(ibv_post_send(b.qp, &wr, &bad) == 0);
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(b.poll().status == IBV_WC_SUCCESS);

  REQUIRE(a.start_poll() == 0);
  CHECK(a.ex->wr_id == 51);
  CHECK(a.ex->status == IBV_WC_SUCCESS);
  CHECK(ibv_wc_read_opcode(a.ex) == IBV_WC_RECV);
  CHECK(ibv_wc_read_byte_len(a.ex) == 33);
  CHECK(ibv_wc_read_imm_data(a.ex) == htobe32(9));
  CHECK(ibv_wc_read_wc_flags(a.ex) == IBV_WC_WITH_IMM);
  CHECK(ibv_wc_read_qp_num(a.ex) == a.qp->qp_num);
  CHECK(ibv_wc_read_vendor_err(a.ex) == 0);
  CHECK(ibv_wc_read_slid(a.ex) == 0);
  CHECK(ibv_wc_read_sl(a.ex) == 0);
  CHECK(ibv_wc_read_dlid_path_bits(a.ex) == 0);
  CHECK(ibv_wc_read_cvlan(a.ex) == 0);
  CHECK(ibv_wc_read_flow_tag(a.ex) == 0);
  const std::uint64_t first = ibv_wc_read_completion_ts(a.ex);
  const std::uint64_t wall = ibv_wc_read_completion_wallclock_ns(a.ex);
  const auto start = static_cast<std::uint64_t>(before.tv_sec) * 1'000'000'000;
  CHECK(wall > start - 1'000'000'000);
  CHECK(wall < start + 60'000'000'000);

  // Its QP may go meanwhile.
  REQUIRE(ibv_destroy_qp(a.qp) == 0);
  a.qp = nullptr;
  REQUIRE(ibv_next_poll(a.ex) == 0);
  CHECK(a.ex->wr_id == 52);
  CHECK(ibv_wc_read_completion_ts(a.ex) >= first);
  CHECK(ibv_wc_read_src_qp(a.ex) == b.qp->qp_num);
  CHECK(ibv_next_poll(a.ex) == ENOENT);
  ibv_end_poll(a.ex);
  CHECK(ibv_start_poll(a.ex, &none) == ENOENT);
}

TEST_CASE("ibv_poll_cq works on an extended CQ, and a thread that polls keeps others out until it ends") {
  configure("x0;y0");
  ExtendedEnd a("x0");
  End b("y0");
  a.connect(b);
  b.connect(a);
  REQUIRE(b.post_recv(0, 100) == 0);
  REQUIRE(b.post_recv(0, 100) == 0);
  REQUIRE(a.send(0, 10) == 0);
  REQUIRE(a.send(0, 20) == 0);
  REQUIRE(a.start_poll() == 0);
  bool ended = false;
  std::thread other([&] {
    REQUIRE(a.start_poll() == 0);  // waits
    CHECK(ended);
    ibv_end_poll(a.ex);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ended = true;
  ibv_end_poll(a.ex);
  other.join();
  REQUIRE(b.post_recv(0, 100) == 0);
  REQUIRE(a.send(0, 30) == 0);
  CHECK(a.poll().byte_len == 30);
}

TEST_CASE("create_cq_ex rejects features that the device lacks") {
  configure("x0");
  const Context context = open_device("x0");
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 4;
  const auto rejected = [&] {
    errno = 0;
    CHECK(ibv_create_cq_ex(context.get(), &attr) == nullptr);
    return errno;
  };
  attr.wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS + 1;  // past the header, which would refuse it itself
  CHECK(verbs_get_ctx(context.get())->create_cq_ex(context.get(), &attr) == nullptr);
  CHECK(errno == EOPNOTSUPP);
  attr.wc_flags = 0;
  attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attr.flags = 4;
  CHECK(rejected() == EOPNOTSUPP);
  attr.comp_mask = 0;
  attr.comp_vector = static_cast<std::uint32_t>(context->num_comp_vectors);
  CHECK(rejected() == EINVAL);
  attr.comp_vector = 0;
  attr.cqe = 0;
  CHECK(rejected() == EINVAL);
  attr.cqe = UINT32_MAX;
  CHECK(rejected() == EINVAL);
  CHECK(ibv_create_cq(context.get(), 4, nullptr, nullptr, -1) == nullptr);
  ibv_cq* last = ibv_create_cq(context.get(), 4, nullptr, nullptr, context->num_comp_vectors - 1);
  REQUIRE(last);
  CHECK(ibv_destroy_cq(last) == 0);
}

TEST_CASE("a CQ may belong to a parent domain, which it then holds") {
  configure("x0");
  const Context context = open_device("x0");
  ibv_pd* pd = ibv_alloc_pd(context.get());
  REQUIRE(pd);
  ibv_parent_domain_init_attr init{};
  init.pd = pd;
  ibv_pd* domain = ibv_alloc_parent_domain(context.get(), &init);
  REQUIRE(domain);
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 4;
  attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  attr.parent_domain = pd;
  CHECK(ibv_create_cq_ex(context.get(), &attr) == nullptr);
  CHECK(errno == EINVAL);
  attr.parent_domain = domain;
  ibv_cq_ex* cq = ibv_create_cq_ex(context.get(), &attr);
  REQUIRE(cq);
  CHECK(ibv_dealloc_pd(domain) == EBUSY);
  CHECK(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
  CHECK(ibv_dealloc_pd(domain) == 0);
  CHECK(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("a CQ that ignores overruns keeps the newest completions and its QP") {
  configure("x0;y0");
  ExtendedEnd a("x0", IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN | IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 2);
  End b("y0");
  a.connect(b);
  b.connect(a);
  for (std::uint64_t id = 1; id <= 4; ++id) REQUIRE(a.post_recv(0, 100, id) == 0);
  for (int i = 0; i < 4; ++i) REQUIRE(b.send(0, 10) == 0);
  for (int i = 0; i < 4; ++i) CHECK(b.poll().status == IBV_WC_SUCCESS);
  CHECK(a.poll().wr_id == 3);
  CHECK(a.poll().wr_id == 4);
}

TEST_CASE("resizing a CQ keeps its entries, in order") {
  configure("x0;y0,max_cqe=100");
  End a("x0"), b("y0");
  a.connect(b);
  b.connect(a);
  REQUIRE(ibv_resize_cq(b.cq, 3) == 0);
  CHECK(b.cq->cqe == 3);
  std::uint64_t id = 0;
  const auto receive = [&](int count) {
    for (int i = 0; i < count; ++i) {
      REQUIRE(b.post_recv(0, 100, ++id) == 0);
      REQUIRE(a.send(0, 10) == 0);
      REQUIRE(a.poll().status == IBV_WC_SUCCESS);
    }
  };
  receive(2);
  CHECK(b.poll().wr_id == 1);
  receive(2);  // the ring has wrapped
  CHECK(ibv_resize_cq(b.cq, 2) == EINVAL);
  CHECK(b.cq->cqe == 3);
  CHECK(ibv_resize_cq(b.cq, 0) == EINVAL);
  CHECK(ibv_resize_cq(b.cq, 101) == EINVAL);
  REQUIRE(ibv_resize_cq(b.cq, 5) == 0);
  receive(2);
  REQUIRE(ibv_resize_cq(b.cq, 5) == 0);
  for (std::uint64_t expected = 2; expected <= 6; ++expected) CHECK(b.poll().wr_id == expected);
}

TEST_CASE("moderation: one event for several completions, or when the period is over") {
  configure("x0;y0");
  End a("x0"), b("y0", IBV_QPT_RC, true);
  a.connect(b);
  b.connect(a);
  const auto moderate = [&](std::uint16_t count, std::uint16_t period) {
    ibv_modify_cq_attr attr{};
    attr.attr_mask = IBV_CQ_ATTR_MODERATE;
    attr.moderate = {.cq_count = count, .cq_period = period};
    return ibv_modify_cq(b.cq, &attr);
  };
  ibv_modify_cq_attr wrong{};
  CHECK(ibv_modify_cq(b.cq, &wrong) == EINVAL);
  const auto receive = [&] {
    REQUIRE(b.post_recv(0, 100) == 0);
    REQUIRE(a.send(0, 10) == 0);
    REQUIRE(a.poll().status == IBV_WC_SUCCESS);
  };
  const auto wait_for_event = [&] {
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    REQUIRE(ibv_get_cq_event(b.channel, &cq, &cq_context) == 0);
    ibv_ack_cq_events(cq, 1);
  };
  REQUIRE(moderate(2, 1000) == 0);
  REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
  receive();
  wait_for_event();  // after a millisecond, since only one of two came
  CHECK(b.poll().status == IBV_WC_SUCCESS);
  REQUIRE(moderate(0, 0) == 0);
  REQUIRE(ibv_req_notify_cq(b.cq, 0) == 0);
  receive();
  wait_for_event();
}
