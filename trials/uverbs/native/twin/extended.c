#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "twin/twin.h"

static struct ibv_cq *extended_cq(struct ibv_context *context, struct ibv_cq_ex **extended) {
  struct ibv_cq_init_attr_ex attr = {.cqe = 32,
                                     .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
  *extended = ibv_create_cq_ex(context, &attr);
  REQUIRE(*extended != NULL);
  return ibv_cq_ex_to_cq(*extended);
}

// Work requests by ibv_wr_*.
static void work_requests(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq_ex *extended;
  struct ibv_cq *cq = extended_cq(context, &extended);
  struct ibv_qp_init_attr_ex init = {
      .send_cq = cq,
      .recv_cq = cq,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64},
      .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
      .pd = pd,
      .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
                        IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV,
  };
  struct ibv_qp *qp = ibv_create_qp_ex(context, &init);
  REQUIRE(qp != NULL);
  to_rts(qp);
  struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
  uint8_t *memory = pages(8192);
  struct ibv_mr *mr = ibv_reg_mr_iova2(pd, memory, 8192, (uintptr_t)memory, IBV_ACCESS_LOCAL_WRITE);
  const struct ibv_sge list[2] = {{(uintptr_t)memory, 100, mr->lkey}, {(uintptr_t)memory + 4096, 200, mr->lkey}};

  ibv_wr_start(ex);
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(ex);
  ibv_wr_set_sge_list(ex, 2, list);
  ibv_wr_send_imm(ex, __builtin_bswap32(0x12345678));
  ibv_wr_set_sge_list(ex, 1, list);
  ibv_wr_rdma_write(ex, 0x99aabbcc, 0x1122334455667788);
  ibv_wr_set_sge_list(ex, 1, list);
  ibv_wr_rdma_read(ex, 0x99aabbcc, 0x1122334455667788);
  ibv_wr_set_sge_list(ex, 1, list);
  REQUIRE(ibv_wr_complete(ex) == 0);
  control("queues");
  ibv_wr_start(ex);
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_atomic_fetch_add(ex, 0x99aabbcc, 0x1122334455667788, 5);
  const struct ibv_sge word = {(uintptr_t)memory + 8, 8, mr->lkey};
  ibv_wr_set_sge_list(ex, 1, &word);
  ibv_wr_local_inv(ex, 0x4711);
  REQUIRE(ibv_wr_complete(ex) == 0);
  control("queues");

  REQUIRE(ibv_dereg_mr(mr) == 0);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void moderation(struct ibv_context *context) {
  struct ibv_cq_ex *extended;
  struct ibv_cq *cq = extended_cq(context, &extended);
  struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {.cq_count = 16, .cq_period = 30}};
  REQUIRE(ibv_modify_cq(cq, &attr) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
}

static void reliable_domain(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_xrcd_init_attr attr = {
      .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
  struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &attr);
  REQUIRE(xrcd != NULL);
  struct ibv_srq_init_attr_ex shared = {
      .attr = {.max_wr = 8, .max_sge = 1},
      .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
      .srq_type = IBV_SRQT_XRC,
      .pd = pd,
      .xrcd = xrcd,
      .cq = cq,
  };
  struct ibv_srq *srq = ibv_create_srq_ex(context, &shared);
  REQUIRE(srq != NULL);
  struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};
  struct ibv_qp *target = ibv_create_qp_ex(context, &init);
  REQUIRE(target != NULL);
  REQUIRE(ibv_destroy_qp(target) == 0);
  REQUIRE(ibv_destroy_srq(srq) == 0);
  REQUIRE(ibv_close_xrcd(xrcd) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void device_memory(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_alloc_dm_attr attr = {.length = 1024, .log_align_req = 6};
  struct ibv_dm *dm = ibv_alloc_dm(context, &attr);
  REQUIRE(dm != NULL);
  struct ibv_mr *mr = ibv_reg_dm_mr(pd, dm, 128, 256, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(mr != NULL);
  REQUIRE(ibv_dereg_mr(mr) == 0);
  REQUIRE(ibv_free_dm(dm) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void counted_flow(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .qp_type = IBV_QPT_RAW_PACKET,
                                  .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
  struct ibv_qp *qp = ibv_create_qp(pd, &init);
  REQUIRE(qp != NULL);
  struct ibv_counters_init_attr counters_attr = {0};
  struct ibv_counters *counters = ibv_create_counters(context, &counters_attr);
  REQUIRE(counters != NULL);
  struct ibv_counter_attach_attr point = {.counter_desc = IBV_COUNTER_PACKETS, .index = 0};
  REQUIRE(ibv_attach_counters_point_flow(counters, &point, NULL) == 0);
  struct {
    struct ibv_flow_attr attr;
    struct ibv_flow_spec_eth eth;
    struct ibv_flow_spec_tcp_udp udp;
    struct ibv_flow_spec_action_tag tag;
    struct ibv_flow_spec_counter_action count;
  } __attribute__((packed, aligned(8))) rule;
  memset(&rule, 0, sizeof(rule));
  rule.attr = (struct ibv_flow_attr){
      .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .priority = 2, .num_of_specs = 4, .port = 1};
  rule.eth.type = IBV_FLOW_SPEC_ETH;
  rule.eth.size = sizeof(rule.eth);
  rule.eth.val.ether_type = __builtin_bswap16(0x0800);
  rule.eth.mask.ether_type = 0xffff;
  rule.udp.type = IBV_FLOW_SPEC_UDP;
  rule.udp.size = sizeof(rule.udp);
  rule.udp.val.dst_port = __builtin_bswap16(4789);
  rule.udp.mask.dst_port = 0xffff;
  rule.tag =
      (struct ibv_flow_spec_action_tag){.type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof(rule.tag), .tag_id = 0x4711};
  rule.count = (struct ibv_flow_spec_counter_action){
      .type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof(rule.count), .counters = counters};
  struct ibv_flow *flow = ibv_create_flow(qp, &rule.attr);
  REQUIRE(flow != NULL);
  uint64_t value = 0;
  REQUIRE(ibv_read_counters(counters, &value, 1, 0) == 0);
  REQUIRE(ibv_destroy_flow(flow) == 0);
  REQUIRE(ibv_destroy_counters(counters) == 0);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void alternate_path(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  struct ibv_qp_attr attr = {.alt_ah_attr = address_vector(), .alt_port_num = 1, .alt_timeout = 15};
  attr.path_mig_state = IBV_MIG_REARM;
  REQUIRE(ibv_modify_qp(fixture.qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE) == 0);
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
  REQUIRE(ibv_modify_qp(fixture.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
  drop_fixture(&fixture);
}

static struct ibv_qp *sending_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type) {
  struct ibv_qp_init_attr_ex init = {
      .send_cq = cq,
      .recv_cq = cq,
      .qp_type = type,
      .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2},
      .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
      .pd = pd,
      .send_ops_flags = IBV_QP_EX_WITH_SEND,
  };
  struct ibv_qp *qp = ibv_create_qp_ex(pd->context, &init);
  REQUIRE(qp != NULL);
  to_rts(qp);
  return qp;
}

static void begin_send(struct ibv_qp_ex *ex, const struct ibv_mr *mr) {
  ibv_wr_start(ex);
  ex->wr_id = 1;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(ex);
  ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mr->addr, 100);
}

// What a queue pair was not created for, or its type lacks, has no builder, and C must not call it. (libmlx5 has those
// of an RC queue pair all the same.)
static void operations_not_asked_for(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 32, NULL, NULL, 0);
  struct ibv_qp *qp = sending_qp(pd, cq, IBV_QPT_UC);
  struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
  uint8_t *memory = pages(8192);
  struct ibv_mr *mr = ibv_reg_mr_iova2(pd, memory, 8192, (uintptr_t)memory, IBV_ACCESS_LOCAL_WRITE);
  REQUIRE(mr != NULL);
  const bool missing[] = {ex->wr_rdma_read == NULL, ex->wr_atomic_fetch_add == NULL, ex->wr_atomic_cmp_swp == NULL};
  for (size_t i = 0; i < sizeof(missing); ++i) {
    begin_send(ex, mr);
    saw("operation %zu: %d", i, missing[i] ? EOPNOTSUPP : 0);
    ibv_wr_abort(ex);
  }
  begin_send(ex, mr);
  REQUIRE(ibv_wr_complete(ex) == 0);
  control("queues");
  REQUIRE(ibv_dereg_mr(mr) == 0);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

// A queue without the word for immediate data and keys has no reader of it.
static void invalidation_without_its_key(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq_init_attr_ex attr = {.cqe = 32, .wc_flags = IBV_WC_EX_WITH_QP_NUM};
  struct ibv_cq_ex *extended = ibv_create_cq_ex(context, &attr);
  REQUIRE(extended != NULL);
  struct ibv_cq *cq = ibv_cq_ex_to_cq(extended);
  struct ibv_qp *qp = sending_qp(pd, cq, IBV_QPT_RC);
  struct ibv_recv_wr receive = {.wr_id = 5};
  struct ibv_recv_wr *bad = NULL;
  REQUIRE(ibv_post_recv(qp, &receive, &bad) == 0);
  control("invalidated %d", 0x4711);
  struct ibv_poll_cq_attr poll = {0};
  REQUIRE(ibv_start_poll(extended, &poll) == 0);
  saw("status %d opcode %d flags %u", extended->status, ibv_wc_read_opcode(extended), ibv_wc_read_wc_flags(extended));
  saw("a reader of the key: %d", extended->read_imm_data != NULL);
  ibv_end_poll(extended);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

// The order in which one call of close() in JavaScript destroys them: the context's newest objects first, each after
// those that use it.
static void destroy_order(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_UD);
  struct ibv_ah_attr attr = address_vector();
  struct ibv_ah *ah = ibv_create_ah(fixture.pd, &attr);
  struct ibv_mw *mw = ibv_alloc_mw(fixture.pd, IBV_MW_TYPE_2);
  REQUIRE(ah != NULL && mw != NULL);
  REQUIRE(ibv_destroy_qp(fixture.qp) == 0);
  REQUIRE(ibv_destroy_cq(fixture.cq) == 0);
  REQUIRE(ibv_dealloc_mw(mw) == 0);
  REQUIRE(ibv_destroy_ah(ah) == 0);
  REQUIRE(ibv_dereg_mr(fixture.mr) == 0);
  REQUIRE(ibv_dealloc_pd(fixture.pd) == 0);
}

const struct scenario extended_scenarios[] = {
    {"work-requests", work_requests},
    {"moderation", moderation},
    {"reliable-domain", reliable_domain},
    {"device-memory", device_memory},
    {"counted-flow", counted_flow},
    {"alternate-path", alternate_path},
    {"destroy-order", destroy_order},
    {"operations-not-asked-for", operations_not_asked_for},
    {"invalidation-without-its-key", invalidation_without_its_key},
    {NULL, NULL},
};
