// Without memory every call fails with ENOMEM and leaves nothing behind: the nth allocation of each call fails in turn.
#include <functional>

#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_call.h"

using namespace verbs::soft::test;

namespace {

// The handle of the object is the one that the first of its kind has when nothing was left behind.
template <typename Object>
void check(const char* name, const std::function<Object*()>& create, const std::function<int(Object*)>& destroy) {
  Object* first = create();
  REQUIRE(first);
  std::uint32_t handle = 0;
  if constexpr (requires { first->handle; }) handle = first->handle;
  REQUIRE(destroy(first) == 0);
  Object* object = until_it_succeeds(name, create);
  if constexpr (requires { object->handle; }) CHECK(object->handle == handle);
  until_it_succeeds(name, [&] { return destroy(object); });
}

ibv_qp_init_attr qp_attr(ibv_cq* cq, ibv_qp_type type) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = type;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 16};
  return attr;
}

}  // namespace

TEST_CASE("a call without memory fails with ENOMEM and leaves nothing behind" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1) + ";y0,addr=" + local_address(2));
  End a("x0"), b("y0");
  ibv_context* context = a.context.get();
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  REQUIRE((pd && cq));
  char memory[256];

  check<ibv_device*>(
      "ibv_get_device_list", [] { return (ibv_get_device_list)(nullptr); },
      [](ibv_device** list) { return ibv_free_device_list(list), 0; });
  check<ibv_pd>("ibv_alloc_pd", [&] { return ibv_alloc_pd(context); }, ibv_dealloc_pd);
  check<ibv_mr>("ibv_reg_mr", [&] { return (ibv_reg_mr)(pd, memory, sizeof memory, 0); }, ibv_dereg_mr);
  check<ibv_mr>("ibv_alloc_null_mr", [&] { return ibv_alloc_null_mr(pd); }, ibv_dereg_mr);
  check<ibv_mw>("ibv_alloc_mw", [&] { return ibv_alloc_mw(pd, IBV_MW_TYPE_2); }, ibv_dealloc_mw);
  ibv_alloc_dm_attr dm_attr{.length = 64, .log_align_req = 0, .comp_mask = 0};
  check<ibv_dm>(
      "ibv_alloc_dm", [&] { return ibv_alloc_dm(context, &dm_attr); }, [](ibv_dm* dm) { return ibv_free_dm(dm); });
  check<ibv_comp_channel>(
      "ibv_create_comp_channel", [&] { return ibv_create_comp_channel(context); }, ibv_destroy_comp_channel);
  check<ibv_cq>("ibv_create_cq", [&] { return ibv_create_cq(context, 16, nullptr, nullptr, 0); }, ibv_destroy_cq);
  ibv_cq_init_attr_ex cq_attr{};
  cq_attr.cqe = 16;
  cq_attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  check<ibv_cq>(
      "ibv_create_cq_ex", [&] { return ibv_cq_ex_to_cq(ibv_create_cq_ex(context, &cq_attr)); }, ibv_destroy_cq);
  ibv_srq_init_attr srq_attr{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  check<ibv_srq>("ibv_create_srq", [&] { return ibv_create_srq(pd, &srq_attr); }, ibv_destroy_srq);
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UD}) {
    ibv_qp_init_attr attr = qp_attr(cq, type);
    check<ibv_qp>("ibv_create_qp", [&] { return ibv_create_qp(pd, &attr); }, ibv_destroy_qp);
  }
  ibv_qp_init_attr_ex ex{};
  ex.send_cq = ex.recv_cq = cq;
  ex.qp_type = IBV_QPT_RC;
  ex.cap = qp_attr(cq, IBV_QPT_RC).cap;
  ex.pd = pd;
  ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  ex.send_ops_flags = IBV_QP_EX_WITH_SEND;
  check<ibv_qp>("ibv_create_qp_ex", [&] { return ibv_create_qp_ex(context, &ex); }, ibv_destroy_qp);
  ibv_ah_attr address = End::address_of(b);
  check<ibv_ah>("ibv_create_ah", [&] { return ibv_create_ah(pd, &address); }, ibv_destroy_ah);
  ibv_td_init_attr td_attr{};
  check<ibv_td>(
      "ibv_alloc_td", [&] { return ibv_alloc_td(context, &td_attr); }, [](ibv_td* td) { return ibv_dealloc_td(td); });
  ibv_parent_domain_init_attr domain_attr{};
  domain_attr.pd = pd;
  check<ibv_pd>(
      "ibv_alloc_parent_domain", [&] { return ibv_alloc_parent_domain(context, &domain_attr); }, ibv_dealloc_pd);
  ibv_xrcd_init_attr xrcd_attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = 0};
  check<ibv_xrcd>(
      "ibv_open_xrcd", [&] { return ibv_open_xrcd(context, &xrcd_attr); },
      [](ibv_xrcd* xrcd) { return ibv_close_xrcd(xrcd); });
  check<ibv_pd>(
      "ibv_import_pd", [&] { return ibv_import_pd(context, pd->handle); },
      [](ibv_pd* imported) { return ibv_unimport_pd(imported), 0; });

  // Changes: all or nothing.
  until_it_succeeds("ibv_resize_cq", [&] { return ibv_resize_cq(cq, 100); });
  CHECK(cq->cqe == 100);
  ibv_srq* srq = ibv_create_srq(pd, &srq_attr);
  ibv_srq_attr larger{.max_wr = 64, .max_sge = 1, .srq_limit = 0};
  until_it_succeeds("ibv_modify_srq", [&] { return ibv_modify_srq(srq, &larger, IBV_SRQ_MAX_WR); });
  CHECK(ibv_destroy_srq(srq) == 0);
  ibv_qp_init_attr rc = qp_attr(cq, IBV_QPT_RC);
  ibv_qp* qp = ibv_create_qp(pd, &rc);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  until_it_succeeds("ibv_modify_qp", [&] {
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  });
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = b.qp->qp_num;
  attr.max_dest_rd_atomic = 16;
  attr.ah_attr = address;
  until_it_succeeds("ibv_modify_qp", [&] {
    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  });
  ibv_qp_init_attr init{};
  until_it_succeeds("ibv_query_qp", [&] { return ibv_query_qp(qp, &attr, 0, &init); });
  until_it_succeeds("ibv_destroy_qp", [&] { return ibv_destroy_qp(qp); });
  ibv_qp_init_attr ud = qp_attr(cq, IBV_QPT_UD);
  qp = ibv_create_qp(pd, &ud);
  const ibv_gid group{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}};
  until_it_succeeds("ibv_attach_mcast", [&] { return ibv_attach_mcast(qp, &group, 0); });
  until_it_succeeds("ibv_detach_mcast", [&] { return ibv_detach_mcast(qp, &group, 0); });
  CHECK(ibv_destroy_qp(qp) == 0);

  // No domain is busy, no queue has a user left.
  CHECK(ibv_destroy_cq(cq) == 0);
  CHECK(ibv_dealloc_pd(pd) == 0);
}

TEST_CASE("a device without memory is not opened, and its address stays free" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(3));
  ibv_device** list = (ibv_get_device_list)(nullptr);
  REQUIRE(list);
  ibv_context* context = until_it_succeeds("ibv_open_device", [&] { return ibv_open_device(list[0]); });
  const int fd = dup(context->cmd_fd);
  ibv_context* imported = until_it_succeeds("ibv_import_device", [&] { return ibv_import_device(fd); });
  REQUIRE(ibv_alloc_pd(imported));
  until_it_succeeds("ibv_close_device", [&] { return ibv_close_device(imported); });
  REQUIRE(ibv_alloc_pd(context));  // destroyed with the context
  until_it_succeeds("ibv_close_device", [&] { return ibv_close_device(context); });
  context = ibv_open_device(list[0]);
  CHECK(context);
  ibv_close_device(context);
  ibv_free_device_list(list);
}

TEST_CASE("traffic while allocations fail ends in completions, never in the end of the process" *
          doctest::skip(!kAllocationsCanFail)) {
  for (const int nth : {1, 2, 3, 7, 50}) {
    CAPTURE(nth);
    configure("x0;y0");
    End a("x0"), b("y0");
    a.connect(b);
    b.connect(a);
    fail_every_allocation(nth);
    int sent = 0, errors = 0;
    for (int i = 0; i < 200; ++i) {
      const int posted = b.post_recv(0, 4096), sending = a.send(0, 4096);
      if (posted != 0 || sending != 0) {
        ++errors;
        break;
      }
      const ibv_wc wc = a.poll();
      if (wc.status != IBV_WC_SUCCESS) {
        ++errors;
        break;
      }
      b.poll();
      ++sent;
    }
    fail_every_allocation(0);
    CHECK((sent == 200 || errors == 1));
  }
}
