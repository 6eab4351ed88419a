#include <string.h>

#include "twin/twin.h"

static void completion_queues(struct ibv_context *context) {
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  REQUIRE(channel != NULL);
  struct ibv_cq *plain = ibv_create_cq(context, 10, NULL, NULL, 0);
  REQUIRE(plain != NULL);
  struct ibv_cq *armed = ibv_create_cq(context, 100, NULL, channel, 2);
  REQUIRE(armed != NULL);
  REQUIRE(ibv_req_notify_cq(armed, 0) == 0);
  REQUIRE(ibv_resize_cq(plain, 40) == 0);
  REQUIRE(ibv_destroy_cq(armed) == 0);
  REQUIRE(ibv_destroy_cq(plain) == 0);
  REQUIRE(ibv_destroy_comp_channel(channel) == 0);
}

static void of_type(struct ibv_context *context, enum ibv_qp_type type) {
  struct fixture fixture = make_fixture(context, type);
  struct ibv_qp_attr attr;
  struct ibv_qp_init_attr init;
  REQUIRE(ibv_query_qp(fixture.qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init) == 0);
  memset(&attr, 0, sizeof(attr));
  attr.qp_state = IBV_QPS_ERR;
  REQUIRE(ibv_modify_qp(fixture.qp, &attr, IBV_QP_STATE) == 0);
  attr.qp_state = IBV_QPS_RESET;
  REQUIRE(ibv_modify_qp(fixture.qp, &attr, IBV_QP_STATE) == 0);
  drop_fixture(&fixture);
}

static void rc(struct ibv_context *context) { of_type(context, IBV_QPT_RC); }
static void uc(struct ibv_context *context) { of_type(context, IBV_QPT_UC); }
static void ud(struct ibv_context *context) { of_type(context, IBV_QPT_UD); }

static void shared_receive(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_srq_init_attr init = {.attr = {.max_wr = 16, .max_sge = 2}};
  struct ibv_srq *srq = ibv_create_srq(pd, &init);
  REQUIRE(srq != NULL);
  struct ibv_qp_init_attr attr = {
      .send_cq = cq,
      .recv_cq = cq,
      .srq = srq,
      .qp_type = IBV_QPT_RC,
      .sq_sig_all = 1,
      .cap = {.max_send_wr = 4, .max_send_sge = 1},
  };
  struct ibv_qp *qp = ibv_create_qp(pd, &attr);
  REQUIRE(qp != NULL);
  struct ibv_srq_attr limit = {.srq_limit = 3};
  REQUIRE(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
  REQUIRE(ibv_query_srq(srq, &limit) == 0);
  uint8_t *memory = pages(4096);
  struct ibv_mr *mr = ibv_reg_mr_iova2(pd, memory, 4096, (uintptr_t)memory, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_sge sge = {.addr = (uintptr_t)memory + 128, .length = 256, .lkey = mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1};
  struct ibv_recv_wr *bad;
  REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0);
  control("queues");
  REQUIRE(ibv_dereg_mr(mr) == 0);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_srq(srq) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void receive_side_scaling(struct ibv_context *context) {
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_wq_init_attr attr = {.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = pd, .cq = cq};
  struct ibv_wq *queues[2];
  for (int i = 0; i < 2; ++i) {
    queues[i] = ibv_create_wq(context, &attr);
    REQUIRE(queues[i] != NULL);
    struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
    REQUIRE(ibv_modify_wq(queues[i], &ready) == 0);
  }
  struct ibv_rwq_ind_table_init_attr table_attr = {.log_ind_tbl_size = 1, .ind_tbl = queues};
  struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(context, &table_attr);
  REQUIRE(table != NULL);
  uint8_t key[40];
  for (size_t i = 0; i < sizeof(key); ++i) key[i] = (uint8_t)(i + 1);
  struct ibv_qp_init_attr_ex init = {
      .qp_type = IBV_QPT_RAW_PACKET,
      .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
      .pd = pd,
      .rwq_ind_tbl = table,
      .rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                       .rx_hash_key_len = sizeof(key),
                       .rx_hash_key = key,
                       .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4},
  };
  struct ibv_qp *qp = ibv_create_qp_ex(context, &init);
  REQUIRE(qp != NULL);
  REQUIRE(ibv_destroy_qp(qp) == 0);
  REQUIRE(ibv_destroy_rwq_ind_table(table) == 0);
  REQUIRE(ibv_destroy_wq(queues[1]) == 0);
  REQUIRE(ibv_destroy_wq(queues[0]) == 0);
  REQUIRE(ibv_destroy_cq(cq) == 0);
  REQUIRE(ibv_dealloc_pd(pd) == 0);
}

static void multicast(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_UD);
  union ibv_gid gid = {.raw = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}};
  REQUIRE(ibv_attach_mcast(fixture.qp, &gid, 0) == 0);
  REQUIRE(ibv_detach_mcast(fixture.qp, &gid, 0) == 0);
  drop_fixture(&fixture);
}

static void refused_destroys(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  control("refuse QP_DESTROY 16 1");
  control("refuse DESTROY_QP 16 1");
  saw("destroying the queue pair: %d", ibv_destroy_qp(fixture.qp));
  control("refuse MR_DESTROY 16 1");
  control("refuse DEREG_MR 16 1");
  saw("deregistering the region: %d", ibv_dereg_mr(fixture.mr));
  drop_fixture(&fixture);
}

const struct scenario queue_scenarios[] = {
    {"completion-queues", completion_queues},
    {"rc", rc},
    {"uc", uc},
    {"ud", ud},
    {"shared-receive", shared_receive},
    {"receive-side-scaling", receive_side_scaling},
    {"multicast", multicast},
    {"refused-destroys", refused_destroys},
    {NULL, NULL},
};
