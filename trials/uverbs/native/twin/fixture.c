#include <string.h>

#include "twin/twin.h"

struct ibv_ah_attr address_vector(void) {
  struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .sl = 3};
  const uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
  memcpy(attr.grh.dgid.raw, gid, sizeof(gid));
  attr.grh.sgid_index = 3;
  attr.grh.hop_limit = 64;
  attr.grh.traffic_class = 0x20;
  attr.grh.flow_label = 0x12345;
  return attr;
}

void to_rts(struct ibv_qp *qp) {
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (qp->qp_type == IBV_QPT_UD) {
    init.qkey = 0x11111111;
    mask |= IBV_QP_QKEY;
  } else {
    init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  REQUIRE(ibv_modify_qp(qp, &init, mask) == 0);

  struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
  mask = IBV_QP_STATE;
  if (qp->qp_type != IBV_QPT_UD) {
    rtr.path_mtu = IBV_MTU_1024;
    rtr.dest_qp_num = 0x111;
    rtr.rq_psn = 0x456;
    rtr.ah_attr = address_vector();
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  }
  if (qp->qp_type == IBV_QPT_RC) {
    rtr.max_dest_rd_atomic = 4;
    rtr.min_rnr_timer = 12;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  REQUIRE(ibv_modify_qp(qp, &rtr, mask) == 0);

  struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = 0x123};
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (qp->qp_type == IBV_QPT_RC) {
    rts.timeout = 14;
    rts.retry_cnt = 7;
    rts.rnr_retry = 6;
    rts.max_rd_atomic = 4;
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  REQUIRE(ibv_modify_qp(qp, &rts, mask) == 0);
}

struct fixture make_fixture(struct ibv_context *context, enum ibv_qp_type type) {
  struct fixture fixture = {0};
  fixture.pd = ibv_alloc_pd(context);
  REQUIRE(fixture.pd != NULL);
  fixture.cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  REQUIRE(fixture.cq != NULL);
  struct ibv_qp_init_attr attr = {
      .send_cq = fixture.cq,
      .recv_cq = fixture.cq,
      .qp_type = type,
      .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64},
  };
  fixture.qp = ibv_create_qp(fixture.pd, &attr);
  REQUIRE(fixture.qp != NULL);
  to_rts(fixture.qp);
  fixture.memory = pages(8192);
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  fixture.mr = ibv_reg_mr_iova2(fixture.pd, fixture.memory, 8192, (uintptr_t)fixture.memory, (unsigned)access);
  REQUIRE(fixture.mr != NULL);
  return fixture;
}

void drop_fixture(struct fixture *fixture) {
  REQUIRE(ibv_dereg_mr(fixture->mr) == 0);
  REQUIRE(ibv_destroy_qp(fixture->qp) == 0);
  REQUIRE(ibv_destroy_cq(fixture->cq) == 0);
  REQUIRE(ibv_dealloc_pd(fixture->pd) == 0);
}
