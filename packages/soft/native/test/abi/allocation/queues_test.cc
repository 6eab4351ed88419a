// Without memory: completion queues, shared receive queues, queue pairs and their addresses.
#include "abi/objects/later.h"
#include "test/abi/support/device_pair.h"
#include "test/abi/support/failing_object.h"

using namespace verbs::soft::test;
namespace later = verbs::soft::abi::later;

namespace {

// A context with a domain and a completion queue, which are gone with it if nothing uses them any more.
struct Place {
  Place() { REQUIRE((pd && cq)); }
  Place(const Place&) = delete;
  ~Place() {
    CHECK(ibv_destroy_cq(cq) == 0);
    CHECK(ibv_dealloc_pd(pd) == 0);
  }
  Context owner = open_device("x0");
  ibv_context* context = owner.get();
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
};

ibv_qp_init_attr qp_attr(ibv_cq* cq, ibv_qp_type type) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.qp_type = type;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 16};
  return attr;
}

void configure_one() { configure("x0,addr=" + local_address(1)); }

ibv_xrcd* open_domain(ibv_context* context) {
  ibv_xrcd_init_attr attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = 0};
  return ibv_open_xrcd(context, &attr);
}
int close_domain(ibv_xrcd* xrcd) { return ibv_close_xrcd(xrcd); }

}  // namespace

TEST_CASE("completion counters without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure_one();
  Place place;
  ibv_context* const context = place.context;
  later::CompCntrCaps caps{};
  without_allocating("_ibv_query_comp_cntr_caps", [&] {
    return _ibv_query_comp_cntr_caps(context, reinterpret_cast<ibv_comp_cntr_caps*>(&caps), sizeof caps);
  });
  later::CompCntrInitAttr attr{};
  const auto create = [&] { return ibv_create_comp_cntr(context, reinterpret_cast<ibv_comp_cntr_init_attr*>(&attr)); };
  ibv_destroy_comp_cntr(until_it_succeeds("ibv_create_comp_cntr", create, ibv_destroy_comp_cntr));
  until_it_ends("ibv_destroy_comp_cntr", create, ibv_destroy_comp_cntr);
  ibv_comp_cntr* const counter = create();
  std::uint64_t value = 0;
  without_allocating("ibv_set_comp_cntr", [&] { return ibv_set_comp_cntr(counter, 1); });
  without_allocating("ibv_set_err_comp_cntr", [&] { return ibv_set_err_comp_cntr(counter, 1); });
  without_allocating("ibv_inc_comp_cntr", [&] { return ibv_inc_comp_cntr(counter, 1); });
  without_allocating("ibv_inc_err_comp_cntr", [&] { return ibv_inc_err_comp_cntr(counter, 1); });
  without_allocating("ibv_read_comp_cntr", [&] { return ibv_read_comp_cntr(counter, &value); });
  CHECK(value == 2);
  without_allocating("ibv_read_err_comp_cntr", [&] { return ibv_read_err_comp_cntr(counter, &value); });
  ibv_qp_init_attr init = qp_attr(place.cq, IBV_QPT_RC);
  ibv_qp* const qp = ibv_create_qp(place.pd, &init);
  REQUIRE(qp);
  later::QpAttachCompCntrAttr operations{.comp_mask = 0, .op_mask = 63};
  until_it_succeeds("ibv_qp_attach_comp_cntr", [&] {
    return ibv_qp_attach_comp_cntr(qp, counter, reinterpret_cast<ibv_qp_attach_comp_cntr_attr*>(&operations));
  });
  CHECK(ibv_destroy_qp(qp) == 0);
  CHECK(ibv_destroy_comp_cntr(counter) == 0);
}

TEST_CASE("a port's speed without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure_one();
  Place place;
  std::uint64_t speed = 0;
  without_allocating("ibv_query_port_speed", [&] { return ibv_query_port_speed(place.context, 1, &speed); });
}

TEST_CASE("completion queues without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure_one();
  Place place;
  ibv_context* const context = place.context;
  check_object(
      "ibv_create_comp_channel", [&] { return ibv_create_comp_channel(context); }, "ibv_destroy_comp_channel",
      ibv_destroy_comp_channel);
  ibv_comp_channel* const channel = ibv_create_comp_channel(context);
  check_object(
      "ibv_create_cq", [&] { return ibv_create_cq(context, 16, nullptr, channel, 0); }, "ibv_destroy_cq",
      ibv_destroy_cq);
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 16;
  attr.channel = channel;
  attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  check_object(
      "create_cq_ex", [&] { return ibv_cq_ex_to_cq(ibv_create_cq_ex(context, &attr)); }, "ibv_destroy_cq",
      ibv_destroy_cq);
  CHECK(ibv_destroy_comp_channel(channel) == 0);  // no queue uses it
  // All or nothing.
  bool unchanged = true;
  const int before = place.cq->cqe;
  until_it_succeeds("ibv_resize_cq", [&] {
    const int result = ibv_resize_cq(place.cq, 100);
    if (result != 0) unchanged &= place.cq->cqe == before;
    return result;
  });
  CHECK(unchanged);
  CHECK(place.cq->cqe == 100);
  ibv_modify_cq_attr moderation{.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {.cq_count = 4, .cq_period = 10}};
  until_it_succeeds("modify_cq", [&] { return ibv_modify_cq(place.cq, &moderation); });
  ibv_cq bare{};
  auto* const init = exported<void(ibv_cq*, ibv_context*, ibv_comp_channel*, void*)>("verbs_init_cq");
  without_allocating("verbs_init_cq", [&] { init(&bare, context, nullptr, nullptr); });
}

TEST_CASE("shared receive queues without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure_one();
  Place place;
  ibv_srq_init_attr attr{.srq_context = nullptr, .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  const auto create = [&] { return ibv_create_srq(place.pd, &attr); };
  check_object("ibv_create_srq", create, "ibv_destroy_srq", ibv_destroy_srq);
  check_object("open_xrcd", [&] { return open_domain(place.context); }, "close_xrcd", close_domain);
  ibv_xrcd* const xrcd = open_domain(place.context);
  ibv_srq_init_attr_ex ex{};
  ex.attr = attr.attr;
  ex.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  ex.srq_type = IBV_SRQT_XRC;
  ex.pd = place.pd;
  ex.xrcd = xrcd;
  ex.cq = place.cq;
  check_object(
      "create_srq_ex", [&] { return ibv_create_srq_ex(place.context, &ex); }, "ibv_destroy_srq", ibv_destroy_srq);
  CHECK(ibv_close_xrcd(xrcd) == 0);

  ibv_srq* const srq = create();
  std::uint32_t number = 0;
  until_it_succeeds("get_srq_num", [&] { return ibv_get_srq_num(srq, &number); });
  ibv_srq_attr larger{.max_wr = 64, .max_sge = 1, .srq_limit = 0}, found{};
  until_it_succeeds("ibv_modify_srq", [&] { return ibv_modify_srq(srq, &larger, IBV_SRQ_MAX_WR); });
  until_it_succeeds("ibv_query_srq", [&] { return ibv_query_srq(srq, &found); });
  CHECK(found.max_wr == 64);
  CHECK(ibv_destroy_srq(srq) == 0);
}

TEST_CASE("queue pairs without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure_one();
  Place place;
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD}) {
    ibv_qp_init_attr attr = qp_attr(place.cq, type);
    check_object("ibv_create_qp", [&] { return ibv_create_qp(place.pd, &attr); }, "ibv_destroy_qp", ibv_destroy_qp);
  }
  ibv_qp_init_attr_ex ex{};
  ex.send_cq = ex.recv_cq = place.cq;
  ex.qp_type = IBV_QPT_RC;
  ex.cap = qp_attr(place.cq, IBV_QPT_RC).cap;
  ex.pd = place.pd;
  ex.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  ex.send_ops_flags = IBV_QP_EX_WITH_SEND;
  const auto create_ex = [&] { return ibv_create_qp_ex(place.context, &ex); };
  check_object("create_qp_ex", create_ex, "ibv_destroy_qp", ibv_destroy_qp);
  ibv_qp* qp = create_ex();
  REQUIRE(qp);
  CHECK(without_allocating("ibv_qp_to_qp_ex", [&] { return ibv_qp_to_qp_ex(qp); }) != nullptr);
  ibv_ece ece{};
  CHECK(without_allocating("ibv_query_ece", [&] { return ibv_query_ece(qp, &ece); }) == EOPNOTSUPP);
  CHECK(without_allocating("ibv_set_ece", [&] { return ibv_set_ece(qp, &ece); }) == EOPNOTSUPP);
  without_allocating("ibv_query_qp_data_in_order",
                     [&] { return ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0); });
  CHECK(ibv_destroy_qp(qp) == 0);

  ibv_xrcd* const xrcd = open_domain(place.context);
  ex = {};
  ex.qp_type = IBV_QPT_XRC_RECV;
  ex.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  ex.xrcd = xrcd;
  check_object("create_qp_ex", create_ex, "ibv_destroy_qp", ibv_destroy_qp);
  qp = create_ex();
  REQUIRE(qp);
  ibv_qp_open_attr open{};
  open.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  open.qp_num = qp->qp_num;
  open.xrcd = xrcd;
  open.qp_type = IBV_QPT_XRC_RECV;
  check_object("open_qp", [&] { return ibv_open_qp(place.context, &open); }, "ibv_destroy_qp", ibv_destroy_qp);
  CHECK(ibv_destroy_qp(qp) == 0);
  CHECK(ibv_close_xrcd(xrcd) == 0);
}

TEST_CASE("a queue pair that changes without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1) + ";y0,addr=" + local_address(2));
  const End peer("y0");
  Place place;
  ibv_qp_init_attr rc = qp_attr(place.cq, IBV_QPT_RC);
  ibv_qp* const qp = ibv_create_qp(place.pd, &rc);
  REQUIRE(qp);
  ibv_qp_attr attr{};
  const auto modify = [&](ibv_qp_state to, int mask) {
    const ibv_qp_state from = qp->state;
    attr.qp_state = to;
    bool unchanged = true;
    until_it_succeeds("ibv_modify_qp", [&] {
      const int result = ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
      if (result != 0) unchanged &= qp->state == from;
      return result;
    });
    CHECK(unchanged);
    CHECK(qp->state == to);
  };
  attr.port_num = 1;
  modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer.qp->qp_num;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 16;
  attr.ah_attr = End::address_of(peer);
  modify(IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                          IBV_QP_MIN_RNR_TIMER);
  modify(IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  ibv_qp_init_attr init{};
  until_it_succeeds("ibv_query_qp", [&] { return ibv_query_qp(qp, &attr, 0, &init); });
  modify(IBV_QPS_ERR, 0);
  modify(IBV_QPS_RESET, 0);
  until_it_succeeds("ibv_destroy_qp", [&] { return ibv_destroy_qp(qp); });
}

TEST_CASE("addresses and groups without memory" * doctest::skip(!kAllocationsCanFail)) {
  configure("x0,addr=" + local_address(1) + ";y0,addr=" + local_address(2));
  const End peer("y0");
  Place place;
  ibv_ah_attr address = End::address_of(peer);
  check_object("ibv_create_ah", [&] { return ibv_create_ah(place.pd, &address); }, "ibv_destroy_ah", ibv_destroy_ah);
  ibv_gid own{};
  REQUIRE(ibv_query_gid(place.context, 1, 0, &own) == 0);
  std::uint8_t received[40] = {};
  received[20] = 0x45;  // an IPv4 header
  std::memcpy(received + 32, peer.gid.raw + 12, 4);
  std::memcpy(received + 36, own.raw + 12, 4);
  auto* const grh = reinterpret_cast<ibv_grh*>(received);
  ibv_wc wc{};
  wc.wc_flags = IBV_WC_GRH;
  until_it_succeeds("ibv_init_ah_from_wc", [&] { return ibv_init_ah_from_wc(place.context, 1, &wc, grh, &address); });
  check_object(
      "ibv_create_ah_from_wc", [&] { return ibv_create_ah_from_wc(place.pd, &wc, grh, 1); }, "ibv_destroy_ah",
      ibv_destroy_ah);
  ibv_qp_init_attr ud = qp_attr(place.cq, IBV_QPT_UD);
  ibv_qp* const qp = ibv_create_qp(place.pd, &ud);
  const ibv_gid group{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}};
  until_it_succeeds("ibv_attach_mcast", [&] { return ibv_attach_mcast(qp, &group, 0); });
  until_it_succeeds("ibv_detach_mcast", [&] { return ibv_detach_mcast(qp, &group, 0); });
  CHECK(ibv_destroy_qp(qp) == 0);
}
