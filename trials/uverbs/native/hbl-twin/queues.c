#include "hbl-twin/hbl.h"

static void hbl_completion_queues(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  REQUIRE(channel != NULL);
  struct hbldv_cq_attr attr = {.port_num = 1, .cq_type = HBLDV_CQ_TYPE_QP};
  struct ibv_cq *plain = hbldv_create_cq(context, 10, NULL, 0, &attr);
  REQUIRE(plain != NULL);
  struct hbldv_query_cq_attr query;
  REQUIRE(hbldv_query_cq(plain, &query) == 0);
  saw("%u %u %u %u", query.cq_num, query.cq_size, query.regs_offset, query.cq_type);
  attr.cq_type = HBLDV_CQ_TYPE_CC;
  struct ibv_cq *congestion = hbldv_create_cq(context, 64, channel, 2, &attr);
  REQUIRE(congestion != NULL);
  saw("a second one: %d", errno_without(hbldv_create_cq(context, 64, channel, 2, &attr)));
  REQUIRE(ibv_destroy_cq(congestion) == 0);
  REQUIRE(ibv_destroy_cq(plain) == 0);
  REQUIRE(ibv_destroy_comp_channel(channel) == 0);
  REQUIRE(ibv_close_device(context) == 0);
}

// Through RTS with every attribute of hbl, back to RESET.
static void hbl_queue_pair(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  int mask;
  struct ibv_qp_attr init = init_attr(&mask);
  struct hbldv_qp_attr given = {
      .wq_type = HBLDV_WQ_WRITE,
      .wq_granularity = HBLDV_SWQE_GRAN_64B,
      .priority = 2,
  };
  REQUIRE(hbldv_modify_qp(fixture.qp, &init, mask, &given) == 0);
  struct hbldv_query_qp_attr query;
  REQUIRE(hbldv_query_qp(fixture.qp, &query) == 0);
  saw("number %u, send queue %d", query.qp_num, query.swq_cpu_addr != NULL);
  given.caps = HBLDV_QP_CAP_LOOPBACK;
  given.local_key = 0x1234;
  struct ibv_qp_attr rtr = rtr_attr(&mask);
  rtr.path_mtu = (enum ibv_mtu)HBL_IB_MTU_8192;
  REQUIRE(hbldv_modify_qp(fixture.qp, &rtr, mask, &given) == 0);
  given.caps = HBLDV_QP_CAP_CONG_CTRL | HBLDV_QP_CAP_COMPRESSION;
  given.remote_key = 0x5678;
  given.congestion_wnd = 0x9abc;
  given.dest_wq_size = 512;
  struct ibv_qp_attr rts = rts_attr(&mask);
  REQUIRE(hbldv_modify_qp(fixture.qp, &rts, mask, &given) == 0);
  REQUIRE(hbldv_query_qp(fixture.qp, &query) == 0);
  saw("number %u, send queue %d", query.qp_num, query.swq_cpu_addr != NULL);
  struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
  REQUIRE(hbldv_modify_qp(fixture.qp, &reset, IBV_QP_STATE, NULL) == 0);
  init = init_attr(&mask);
  REQUIRE(hbldv_modify_qp(fixture.qp, &init, mask, NULL) == 0);
  REQUIRE(hbldv_query_qp(fixture.qp, &query) == 0);
  saw("number %u", query.qp_num);
  drop_hbl_fixture(&fixture);
}

// libhbl's own defaults.
static void hbl_plain_modify(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  int mask;
  struct ibv_qp_attr init = init_attr(&mask);
  REQUIRE(ibv_modify_qp(fixture.qp, &init, mask) == 0);
  struct ibv_qp_attr rtr = rtr_attr(&mask);
  REQUIRE(ibv_modify_qp(fixture.qp, &rtr, mask) == 0);
  struct ibv_qp_attr rts = rts_attr(&mask);
  REQUIRE(ibv_modify_qp(fixture.qp, &rts, mask) == 0);
  struct ibv_qp_attr attr;
  struct ibv_qp_init_attr made;
  REQUIRE(ibv_query_qp(fixture.qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &made) == 0);
  struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
  saw("to ERR: %d", ibv_modify_qp(fixture.qp, &error, IBV_QP_STATE));
  drop_hbl_fixture(&fixture);
}

static void hbl_rendezvous(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  int mask;
  struct ibv_qp_attr init = init_attr(&mask);
  struct hbldv_qp_attr given = {.wq_type = HBLDV_WQ_RECV_RDV, .priority = 3, .dest_wq_size = 1024};
  REQUIRE(hbldv_modify_qp(fixture.qp, &init, mask, &given) == 0);
  struct ibv_qp_attr rtr = rtr_attr(&mask);
  REQUIRE(hbldv_modify_qp(fixture.qp, &rtr, mask, &given) == 0);
  struct ibv_qp_attr rts = rts_attr(&mask);
  REQUIRE(hbldv_modify_qp(fixture.qp, &rts, mask, &given) == 0);
  drop_hbl_fixture(&fixture);
}

static void hbl_events(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  control("event-of qp 1");  // IBV_EVENT_QP_FATAL
  struct ibv_async_event event;
  REQUIRE(ibv_get_async_event(fixture.context, &event) == 0);
  saw("event %d of the queue pair: %d", event.event_type, event.element.qp == fixture.qp);
  ibv_ack_async_event(&event);
  drop_hbl_fixture(&fixture);
}

const struct hbl_scenario queue_scenarios_of_hbl[] = {
    {"hbl-completion-queues", hbl_completion_queues},
    {"hbl-queue-pair", hbl_queue_pair},
    {"hbl-plain-modify", hbl_plain_modify},
    {"hbl-rendezvous", hbl_rendezvous},
    {"hbl-events", hbl_events},
    {NULL, NULL},
};
