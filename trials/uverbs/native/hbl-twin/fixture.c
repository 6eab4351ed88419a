#include <errno.h>

#include "hbl-twin/hbl.h"

int errno_without(const void *made) { return made == NULL ? errno : 0; }

struct ibv_context *open_ports(struct ibv_device *device) {
  struct hbldv_ucontext_attr attr = {.ports_mask = 6, .core_fd = 7};
  struct ibv_context *context = hbldv_open_device(device, &attr);
  REQUIRE(context != NULL);
  return context;
}

struct ibv_context *open_ready(struct ibv_device *device) {
  struct ibv_context *context = open_ports(device);
  struct hbldv_port_ex_attr attr = {
      .wq_arr_attr = {{64, 256, HBLDV_MEM_HOST, HBLDV_SWQE_GRAN_32B}},
      .caps = HBLDV_PORT_CAP_ADVANCED,
      .port_num = 1,
  };
  REQUIRE(hbldv_set_port_ex(context, &attr) == 0);
  return context;
}

struct hbl_fixture make_hbl_fixture(struct ibv_device *device) {
  struct hbl_fixture fixture = {.context = open_ready(device)};
  fixture.pd = ibv_alloc_pd(fixture.context);
  REQUIRE(fixture.pd != NULL);
  struct hbldv_cq_attr cq = {.port_num = 1, .cq_type = HBLDV_CQ_TYPE_QP};
  fixture.cq = hbldv_create_cq(fixture.context, 16, NULL, 0, &cq);
  REQUIRE(fixture.cq != NULL);
  struct ibv_qp_init_attr attr = {
      .send_cq = fixture.cq,
      .recv_cq = fixture.cq,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = 256, .max_recv_wr = 32, .max_send_sge = 1, .max_recv_sge = 1},
  };
  fixture.qp = ibv_create_qp(fixture.pd, &attr);
  REQUIRE(fixture.qp != NULL);
  return fixture;
}

void drop_hbl_fixture(struct hbl_fixture *fixture) {
  REQUIRE(ibv_destroy_qp(fixture->qp) == 0);
  REQUIRE(ibv_destroy_cq(fixture->cq) == 0);
  REQUIRE(ibv_dealloc_pd(fixture->pd) == 0);
  REQUIRE(ibv_close_device(fixture->context) == 0);
}

struct ibv_qp_attr init_attr(int *mask) {
  *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
}

struct ibv_qp_attr rtr_attr(int *mask) {
  *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
          IBV_QP_MIN_RNR_TIMER;
  return (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTR,
      .path_mtu = IBV_MTU_1024,
      .dest_qp_num = 0x111,
      .rq_psn = 0x456,
      .ah_attr = address_vector(),
      .max_dest_rd_atomic = 4,
      .min_rnr_timer = 12,
  };
}

struct ibv_qp_attr rts_attr(int *mask) {
  *mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  return (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTS,
      .sq_psn = 0x123,
      .timeout = 14,
      .retry_cnt = 7,
      .rnr_retry = 6,
      .max_rd_atomic = 4,
  };
}

struct hbldv_encap_attr encap_attr(void) {
  static uint8_t header[32];
  for (uint8_t i = 0; i < sizeof(header); ++i) header[i] = i + 1;
  return (struct hbldv_encap_attr){
      .tnl_hdr_ptr = (uintptr_t)header,
      .tnl_hdr_size = sizeof(header),
      .ipv4_addr = 0x0a000001,
      .port_num = 1,
      .udp_dst_port = 4789,
      .encap_type = HBLDV_ENCAP_TYPE_ENC_OVER_UDP,
  };
}
