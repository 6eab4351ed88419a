// Objects that were destroyed, altered, or are of another type: every function of libhbl rejects them and nothing
// crashes.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "../../../../soft/native/test/abi/support/dead_objects.h"
#include "hbldv.h"

using namespace verbs::soft::test;

namespace {

// A device of the configuration by its name.
ibv_device* device(const char* name) {
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  ibv_device* found = nullptr;
  for (ibv_device** each = list; *each; ++each) {
    if (std::string_view(ibv_get_device_name(*each)) == name) found = *each;
  }
  ibv_free_device_list(list);
  REQUIRE(found);
  return found;
}

ibv_qp* make_qp(ibv_pd* pd, ibv_cq* cq) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  ibv_qp* qp = ibv_create_qp(pd, &attr);
  REQUIRE(qp);
  return qp;
}

// A context with a port that is set up, a domain, a queue of each kind, and one of each that was destroyed.
struct Objects {
  Objects() : context(hbldv_open_device(device("h0"), nullptr)), closed(hbldv_open_device(device("h1"), nullptr)) {
    REQUIRE((context && closed));
    cq_attr.port_num = 1;
    pd = ibv_alloc_pd(context);
    channel = ibv_create_comp_channel(context);
    cq = hbldv_create_cq(context, 16, nullptr, 0, &cq_attr);
    stale_cq = hbldv_create_cq(context, 16, nullptr, 0, &cq_attr);
    stale_channel = ibv_create_comp_channel(context);
    REQUIRE((pd && cq && stale_cq && stale_channel));
    qp = make_qp(pd, cq);
    stale_qp = make_qp(pd, cq);
    REQUIRE(ibv_destroy_qp(stale_qp) == 0);
    REQUIRE(ibv_destroy_cq(stale_cq) == 0);
    REQUIRE(ibv_destroy_comp_channel(stale_channel) == 0);
    REQUIRE(ibv_close_device(closed) == 0);
  }
  ~Objects() {
    CHECK(ibv_destroy_qp(qp) == 0);
    CHECK(ibv_destroy_cq(cq) == 0);
    CHECK(ibv_destroy_comp_channel(channel) == 0);
    CHECK(ibv_dealloc_pd(pd) == 0);
    CHECK(ibv_close_device(context) == 0);
  }

  ibv_context* context;
  ibv_context* closed;
  hbldv_cq_attr cq_attr{};
  ibv_pd* pd = nullptr;
  ibv_cq *cq = nullptr, *stale_cq = nullptr;
  ibv_qp *qp = nullptr, *stale_qp = nullptr;
  ibv_comp_channel *channel = nullptr, *stale_channel = nullptr;
};

}  // namespace

TEST_CASE("a context that is not open is no device of the library") {
  Objects o;
  const auto check = [&](const auto& call) { check_addresses<ibv_context>(EOPNOTSUPP, o.closed, o.qp, call); };
  check([](ibv_context* context) {
    hbldv_device_attr attr{};
    return hbldv_query_device(context, &attr);
  });
  check([](ibv_context* context) {
    hbldv_port_ex_attr attr{};
    return hbldv_set_port_ex(context, &attr);
  });
  check([](ibv_context* context) {
    hbldv_query_port_attr attr{};
    return hbldv_query_port(context, 1, &attr);
  });
  check([](ibv_context* context) {
    hbldv_usr_fifo_attr attr{};
    return hbldv_create_usr_fifo(context, &attr);
  });
  check([](ibv_context* context) {
    hbldv_encap_attr attr{};
    return hbldv_create_encap(context, &attr);
  });
  check([&](ibv_context* context) { return hbldv_create_cq(context, 16, nullptr, 0, &o.cq_attr); });
}

TEST_CASE("an object that is not live is an error, and destroys nothing") {
  Objects o;
  check_object(o.cq, o.stale_cq, o.qp, [](ibv_cq* cq) {
    hbldv_query_cq_attr attr{};
    return hbldv_query_cq(cq, &attr);
  });
  check_object(o.qp, o.stale_qp, o.cq, [](ibv_qp* qp) {
    hbldv_query_qp_attr attr{};
    return hbldv_query_qp(qp, &attr);
  });
  check_object(o.qp, o.stale_qp, o.cq, [](ibv_qp* qp) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    return hbldv_modify_qp(qp, &attr, IBV_QP_STATE, nullptr);
  });
  CHECK(o.qp->state == IBV_QPS_RESET);
  check_object(o.channel, o.stale_channel, o.qp,
               [&](ibv_comp_channel* channel) { return hbldv_create_cq(o.context, 16, channel, 0, &o.cq_attr); });
  // They are still what they were.
  hbldv_query_cq_attr cq_attr{};
  CHECK(hbldv_query_cq(o.cq, &cq_attr) == 0);
  CHECK(cq_attr.ibvcq == o.cq);
}

TEST_CASE("a queue is destroyed while another thread polls, and acknowledges its event only then") {
  Objects o;
  ibv_cq* cq = hbldv_create_cq(o.context, 16, o.channel, 0, &o.cq_attr);
  REQUIRE(cq);
  ibv_qp* qp = make_qp(o.pd, cq);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  attr.qp_state = IBV_QPS_ERR;
  REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
  REQUIRE(ibv_req_notify_cq(cq, 0) == 0);
  ibv_recv_wr request{}, *bad = nullptr;
  REQUIRE(ibv_post_recv(qp, &request, &bad) == 0);
  ibv_cq* source = nullptr;
  void* data = nullptr;
  REQUIRE(ibv_get_cq_event(o.channel, &source, &data) == 0);
  REQUIRE(ibv_destroy_qp(qp) == 0);

  alarm(20);  // a deadlock ends
  std::atomic<bool> begins{false};
  int error = -1;
  std::thread destroyer([&] {
    begins = true;
    error = ibv_destroy_cq(cq);
  });
  while (!begins) std::this_thread::yield();
  int found = 0;
  for (int i = 0; i < 10'000; ++i) {
    ibv_wc wc;
    found += ibv_poll_cq(o.cq, 1, &wc);
    std::this_thread::yield();
  }
  CHECK(found == 0);
  ibv_ack_cq_events(cq, 1);
  destroyer.join();
  alarm(0);
  CHECK(error == 0);
}

TEST_CASE("the library's own objects and devices are found by their address") {
  Objects o;
  hbldv_usr_fifo_attr fifo_attr{};
  fifo_attr.port_num = 1;
  hbldv_encap_attr encap_attr{};
  encap_attr.port_num = 1;
  hbldv_usr_fifo* fifo = hbldv_create_usr_fifo(o.context, &fifo_attr);
  hbldv_encap* encap = hbldv_create_encap(o.context, &encap_attr);
  REQUIRE((fifo && encap));
  check_addresses<hbldv_usr_fifo>(EINVAL, nullptr, encap, hbldv_destroy_usr_fifo);
  check_addresses<hbldv_encap>(EINVAL, nullptr, fifo, hbldv_destroy_encap);
  // Their fields are the program's to read; what it writes there has no effect.
  *fifo = {};
  encap->encap_num = 77;
  CHECK(hbldv_destroy_usr_fifo(fifo) == 0);
  CHECK(hbldv_destroy_encap(encap) == 0);
  check_addresses<hbldv_usr_fifo>(EINVAL, fifo, nullptr, hbldv_destroy_usr_fifo);
  check_addresses<hbldv_encap>(EINVAL, encap, nullptr, hbldv_destroy_encap);
  check_addresses<ibv_device>(EOPNOTSUPP, nullptr, o.context,
                              [](ibv_device* wild) { return hbldv_open_device(wild, nullptr); });
  check_addresses<ibv_device>(0, nullptr, o.context, [](ibv_device* wild) { return int{hbldv_is_supported(wild)}; });
}
