// Without memory every call fails with ENOMEM and leaves nothing behind: the nth allocation of each call fails in turn.
#include "../../../../soft/native/test/abi/support/failing_call.h"
#include "hbldv.h"

using namespace verbs::soft::test;

TEST_CASE("a call without memory fails with ENOMEM and leaves nothing behind" * doctest::skip(!kAllocationsCanFail)) {
  ibv_device** list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  hbldv_ucontext_attr open_attr{};
  ibv_context* context = until_it_succeeds("hbldv_open_device", [&] { return hbldv_open_device(list[0], &open_attr); });
  until_it_has_memory("hbldv_is_supported", [&] { hbldv_is_supported(list[0]); });
  ibv_free_device_list(list);
  hbldv_device_attr device_attr{};
  until_it_succeeds("hbldv_query_device", [&] { return hbldv_query_device(context, &device_attr); });
  hbldv_port_ex_attr port{};
  port.port_num = 1;
  until_it_succeeds("hbldv_set_port_ex", [&] { return hbldv_set_port_ex(context, &port); });
  hbldv_query_port_attr port_attr{};
  until_it_succeeds("hbldv_query_port", [&] { return hbldv_query_port(context, 1, &port_attr); });

  // More often than a port has of each, so that one that was left behind is noticed.
  hbldv_usr_fifo_attr fifo_attr{};
  fifo_attr.port_num = 1;
  hbldv_encap_attr encap_attr{};
  encap_attr.port_num = 1;
  hbldv_cq_attr cq_attr{};
  cq_attr.port_num = 1;
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    hbldv_usr_fifo* fifo =
        until_it_succeeds("hbldv_create_usr_fifo", [&] { return hbldv_create_usr_fifo(context, &fifo_attr); });
    CHECK(fifo->usr_fifo_num == 1);
    until_it_succeeds("hbldv_destroy_usr_fifo", [&] { return hbldv_destroy_usr_fifo(fifo); });
    hbldv_encap* encap =
        until_it_succeeds("hbldv_create_encap", [&] { return hbldv_create_encap(context, &encap_attr); });
    CHECK(encap->encap_num == 0);
    until_it_succeeds("hbldv_destroy_encap", [&] { return hbldv_destroy_encap(encap); });
    ibv_cq* cq =
        until_it_succeeds("hbldv_create_cq", [&] { return hbldv_create_cq(context, 16, nullptr, 0, &cq_attr); });
    ibv_pd* pd = ibv_alloc_pd(context);
    ibv_qp_init_attr qp_attr{};
    qp_attr.send_cq = qp_attr.recv_cq = cq;
    qp_attr.qp_type = IBV_QPT_RC;
    qp_attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    ibv_qp* qp = until_it_succeeds("ibv_create_qp", [&] { return ibv_create_qp(pd, &qp_attr); });
    hbldv_query_cq_attr cq_state{};
    until_it_succeeds("hbldv_query_cq", [&] { return hbldv_query_cq(cq, &cq_state); });
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    hbldv_qp_attr hbl_attr{};
    hbl_attr.wq_type = HBLDV_WQ_WRITE;
    hbl_attr.wq_granularity = HBLDV_SWQE_GRAN_32B;
    constexpr int kMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    until_it_succeeds("hbldv_modify_qp", [&] { return hbldv_modify_qp(qp, &attr, kMask, &hbl_attr); });
    hbldv_query_qp_attr qp_state{};
    until_it_succeeds("hbldv_query_qp", [&] { return hbldv_query_qp(qp, &qp_state); });
    until_it_succeeds("ibv_destroy_qp", [&] { return ibv_destroy_qp(qp); });
    CHECK(ibv_dealloc_pd(pd) == 0);
    until_it_succeeds("ibv_destroy_cq", [&] { return ibv_destroy_cq(cq); });
  }
  CHECK(ibv_close_device(context) == 0);
}

TEST_CASE("no exported function is missing here" * doctest::skip(!kAllocationsCanFail)) {
  check_no_call_is_missing("libhbl.so.1", {});
}
