// XRC through the exported functions: domains, handles of one target QP in several contexts, and traffic.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

// A file that is gone with the test.
struct File {
  File() : fd(mkstemp(path)) { REQUIRE(fd >= 0); }
  ~File() {
    close(fd);
    unlink(path);
  }
  char path[32] = "/tmp/verbs-xrcd-XXXXXX";
  int fd;
};

ibv_xrcd* open_domain(ibv_context* context, int fd, int oflags) {
  ibv_xrcd_init_attr attr{};
  attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  attr.fd = fd;
  attr.oflags = oflags;
  return ibv_open_xrcd(context, &attr);
}

ibv_srq* create_srq(const End& end, ibv_xrcd* xrcd) {
  ibv_srq_init_attr_ex attr{};
  attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  attr.srq_type = IBV_SRQT_XRC;
  attr.pd = end.pd;
  attr.xrcd = xrcd;
  attr.cq = end.cq;
  ibv_srq* srq = ibv_create_srq_ex(end.context.get(), &attr);
  REQUIRE(srq);
  return srq;
}

ibv_qp* create_target(ibv_context* context, ibv_xrcd* xrcd) {
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_XRC_RECV;
  attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  attr.xrcd = xrcd;
  return ibv_create_qp_ex(context, &attr);
}

ibv_qp* open_target(ibv_context* context, ibv_xrcd* xrcd, std::uint32_t number) {
  ibv_qp_open_attr attr{};
  attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  attr.qp_num = number;
  attr.xrcd = xrcd;
  attr.qp_type = IBV_QPT_XRC_RECV;
  return ibv_open_qp(context, &attr);
}

// The other half: an initiator with the extended post calls.
ibv_qp* create_initiator(const End& end) {
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_XRC_SEND;
  attr.send_cq = end.cq;
  attr.cap.max_send_wr = 4;
  attr.cap.max_send_sge = 1;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.pd = end.pd;
  attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
  return ibv_create_qp_ex(end.context.get(), &attr);
}

// With the attributes of RC for both halves of a connection, as perftest and the kernel's own users give them.
void to_rtr(ibv_qp* qp, const End& peer, std::uint32_t dest) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = dest;
  attr.min_rnr_timer = 12;
  attr.ah_attr = End::address_of(peer);
  REQUIRE(ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
}

void to_rts(ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  REQUIRE(ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                            IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

}  // namespace

TEST_CASE("both halves of an XRC connection take the attributes of RC") {
  configure("xrc0,link=process");
  End a("xrc0");
  ibv_xrcd* xrcd = open_domain(a.context.get(), -1, O_CREAT);
  REQUIRE(xrcd);
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_XRC_RECV;
  attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  attr.xrcd = xrcd;
  ibv_qp* target = ibv_create_qp_ex(a.context.get(), &attr);
  REQUIRE(target);
  to_rtr(target, a, 17);
  to_rts(target);
  CHECK(target->state == IBV_QPS_RTS);
}

TEST_CASE("a message over XRC, sent by the extended calls") {
  configure("xrc0,link=process;xrc1,link=process");
  End a("xrc0"), b("xrc1");
  ibv_xrcd* xrcd = open_domain(b.context.get(), -1, O_CREAT);
  REQUIRE(xrcd);
  ibv_srq* srq = create_srq(b, xrcd);
  std::uint32_t srqn = 0;
  REQUIRE(ibv_get_srq_num(srq, &srqn) == 0);
  ibv_qp* target = create_target(b.context.get(), xrcd);
  REQUIRE(target);
  CHECK(target->pd == nullptr);
  ibv_qp* initiator = create_initiator(a);
  REQUIRE(initiator);
  CHECK(initiator->recv_cq == nullptr);
  to_rtr(target, a, initiator->qp_num);
  to_rtr(initiator, b, target->qp_num);
  to_rts(initiator);

  ibv_sge sge{reinterpret_cast<std::uintptr_t>(b.memory.data()), 4096, b.mr->lkey};
  ibv_recv_wr wr{.wr_id = 31, .next = nullptr, .sg_list = &sge, .num_sge = 1}, *bad = nullptr;
  REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0);
  std::fill_n(a.memory.begin(), 3000, std::uint8_t{0x77});
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(initiator);
  REQUIRE(ex);
  ibv_wr_start(ex);
  ex->wr_id = 30;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(ex);
  ibv_wr_set_xrc_srqn(ex, srqn);
  ibv_wr_set_sge(ex, a.mr->lkey, reinterpret_cast<std::uintptr_t>(a.memory.data()), 3000);
  REQUIRE(ibv_wr_complete(ex) == 0);
  const ibv_wc received = b.poll();
  CHECK(received.wr_id == 31);
  CHECK(received.byte_len == 3000);
  CHECK(received.qp_num == target->qp_num);
  CHECK(b.memory[2999] == 0x77);
  CHECK(a.poll().status == IBV_WC_SUCCESS);

  CHECK(ibv_close_xrcd(xrcd) == EBUSY);
  CHECK(ibv_destroy_srq(srq) == 0);
  CHECK(ibv_close_xrcd(xrcd) == EBUSY);
  CHECK(ibv_destroy_qp(target) == 0);
  CHECK(ibv_close_xrcd(xrcd) == 0);
  CHECK(ibv_destroy_qp(initiator) == 0);
}

TEST_CASE("a file shares a domain between the contexts of the process") {
  configure("xrc2,link=process;xrc3,link=process");
  End one("xrc2"), two("xrc2");
  File file;
  CHECK(open_domain(one.context.get(), file.fd, 0) == nullptr);
  CHECK(errno == EAGAIN);
  CHECK(open_domain(one.context.get(), 9999, O_CREAT) == nullptr);
  CHECK(errno == EBADF);
  ibv_xrcd* first = open_domain(one.context.get(), file.fd, O_CREAT);
  REQUIRE(first);
  CHECK(open_domain(two.context.get(), file.fd, O_CREAT | O_EXCL) == nullptr);
  CHECK(errno == EINVAL);
  ibv_xrcd* second = open_domain(two.context.get(), file.fd, 0);
  REQUIRE(second);
  ibv_xrcd_init_attr attr{};
  CHECK(ibv_open_xrcd(one.context.get(), &attr) == nullptr);
  CHECK(errno == EINVAL);

  // One target QP, created in one context and opened in the other.
  ibv_qp* made = create_target(one.context.get(), first);
  REQUIRE(made);
  ibv_qp* opened = open_target(two.context.get(), second, made->qp_num);
  REQUIRE(opened);
  CHECK(opened->qp_num == made->qp_num);
  CHECK(open_target(two.context.get(), second, made->qp_num + 1) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(open_target(two.context.get(), first, made->qp_num) == nullptr);  // a domain of the other context
  CHECK(errno == EINVAL);
  to_rtr(opened, one, 17);
  ibv_qp_attr state{};
  ibv_qp_init_attr init{};
  REQUIRE(ibv_query_qp(made, &state, IBV_QP_STATE, &init) == 0);
  CHECK(state.qp_state == IBV_QPS_RTR);

  // Both handles receive its events.
  state.qp_state = IBV_QPS_ERR;
  REQUIRE(ibv_modify_qp(made, &state, IBV_QP_STATE) == 0);
  for (ibv_qp* qp : {made, opened}) {
    ibv_async_event event{};
    REQUIRE(ibv_get_async_event(qp->context, &event) == 0);
    CHECK(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED);
    CHECK(event.element.qp == qp);
    ibv_ack_async_event(&event);
  }
  // The QP exists until its last handle is destroyed, in either order.
  CHECK(ibv_destroy_qp(made) == 0);
  CHECK(ibv_query_qp(opened, &state, IBV_QP_STATE, &init) == 0);
  ibv_qp* again = open_target(one.context.get(), first, opened->qp_num);
  REQUIRE(again);
  CHECK(ibv_destroy_qp(again) == 0);
  CHECK(ibv_close_xrcd(first) == 0);
  CHECK(ibv_close_xrcd(second) == EBUSY);
  CHECK(ibv_destroy_qp(opened) == 0);
  CHECK(ibv_close_xrcd(second) == 0);
}

TEST_CASE("combinations that XRC rejects") {
  configure("xrc4,link=process;xrc5,link=process");
  End end("xrc4");
  ibv_xrcd* xrcd = open_domain(end.context.get(), -1, O_CREAT);
  REQUIRE(xrcd);
  ibv_srq* srq = create_srq(end, xrcd);
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = end.cq;
  attr.qp_type = IBV_QPT_RC;
  attr.srq = srq;
  CHECK(ibv_create_qp(end.pd, &attr) == nullptr);
  CHECK(errno == EINVAL);
  attr.qp_type = IBV_QPT_XRC_RECV;  // without a domain
  CHECK(ibv_create_qp(end.pd, &attr) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(create_target(end.context.get(), nullptr) == nullptr);
  CHECK(errno == EINVAL);
  ibv_srq_init_attr_ex extended{};
  extended.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
  extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD;
  extended.srq_type = IBV_SRQT_XRC;
  extended.pd = end.pd;
  extended.xrcd = xrcd;
  CHECK(ibv_create_srq_ex(end.context.get(), &extended) == nullptr);  // without a CQ
  CHECK(errno == EINVAL);
}
