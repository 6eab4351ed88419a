// The states of a queue pair and what each transition needs (IBTA 10.3.1, table 91; ibv_modify_qp(3)).
#include <errno.h>

#include "harness.h"

static struct bench *reset(enum ibv_qp_type type) {
  const struct plan plan = {.type = type};
  struct bench *bench = bench_open(&plan);
  bench->a = make_qp(bench, &plan);
  return bench;
}

static void rc_way(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  EQUAL(state_of(bench->a), IBV_QPS_RESET);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(state_of(bench->a), IBV_QPS_INIT);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  EQUAL(state_of(bench->a), IBV_QPS_RTR);
  EQUAL(to_rts(bench->a, NULL), 0);
  EQUAL(state_of(bench->a), IBV_QPS_RTS);
}

static void uc_way(void) {
  struct bench *bench = reset(IBV_QPT_UC);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  EQUAL(to_rts(bench->a, NULL), 0);
  EQUAL(state_of(bench->a), IBV_QPS_RTS);
}

static void ud_way(void) {
  struct bench *bench = reset(IBV_QPT_UD);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(to_rtr(bench, bench->a, NULL, 0), 0);
  EQUAL(to_rts(bench->a, NULL), 0);
  EQUAL(state_of(bench->a), IBV_QPS_RTS);
}

static void init_needs_its_attributes(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  const int all = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  EQUAL(ibv_modify_qp(bench->a, &attr, all & ~IBV_QP_PORT), EINVAL);
  EQUAL(ibv_modify_qp(bench->a, &attr, all & ~IBV_QP_PKEY_INDEX), EINVAL);
  EQUAL(ibv_modify_qp(bench->a, &attr, all & ~IBV_QP_ACCESS_FLAGS), EINVAL);
  EQUAL(state_of(bench->a), IBV_QPS_RESET);
  EQUAL(ibv_modify_qp(bench->a, &attr, all), 0);
}

static void ud_init_needs_a_qkey(void) {
  struct bench *bench = reset(IBV_QPT_UD);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  EQUAL(ibv_modify_qp(bench->a, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL);
}

static void init_takes_no_other_attributes(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .timeout = 14};
  const int all = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  EQUAL(ibv_modify_qp(bench->a, &attr, all | IBV_QP_TIMEOUT), EINVAL);
  EQUAL(ibv_modify_qp(bench->a, &attr, all | IBV_QP_QKEY), EINVAL);
}

static void bad_port(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 0};
  const int all = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  EQUAL(ibv_modify_qp(bench->a, &attr, all), EINVAL);
  attr.port_num = (uint8_t)(bench->device.phys_port_cnt + 1);
  EQUAL(ibv_modify_qp(bench->a, &attr, all), EINVAL);
}

static void rtr_needs_its_attributes(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  EQUAL(to_init(bench->a, NULL), 0);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = bench->a->qp_num};
  attr.ah_attr = address_of(bench);
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 1;
  static const int kNeeded[] = {IBV_QP_AV,     IBV_QP_PATH_MTU,           IBV_QP_DEST_QPN,
                                IBV_QP_RQ_PSN, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER};
  int all = IBV_QP_STATE;
  for (int i = 0; i < 6; ++i) all |= kNeeded[i];
  for (int i = 0; i < 6; ++i) EQUAL(ibv_modify_qp(bench->a, &attr, all & ~kNeeded[i]), EINVAL);
  EQUAL(state_of(bench->a), IBV_QPS_INIT);
  EQUAL(ibv_modify_qp(bench->a, &attr, all), 0);
}

static void rts_needs_its_attributes(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
  static const int kNeeded[] = {IBV_QP_SQ_PSN, IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY,
                                IBV_QP_MAX_QP_RD_ATOMIC};
  int all = IBV_QP_STATE;
  for (int i = 0; i < 5; ++i) all |= kNeeded[i];
  for (int i = 0; i < 5; ++i) EQUAL(ibv_modify_qp(bench->a, &attr, all & ~kNeeded[i]), EINVAL);
  EQUAL(ibv_modify_qp(bench->a, &attr, all), 0);
}

static void steps_cannot_be_left_out(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), EINVAL);
  EQUAL(to_rts(bench->a, NULL), EINVAL);
  EQUAL(set_state(bench->a, IBV_QPS_SQD), EINVAL);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(to_rts(bench->a, NULL), EINVAL);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  EQUAL(to_init(bench->a, NULL), EINVAL);
  EQUAL(state_of(bench->a), IBV_QPS_RTR);
}

static void every_state_to_reset_and_error(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  for (int steps = 0; steps <= 3; ++steps) {
    for (int error = 0; error < (steps > 0 ? 2 : 1); ++error) {  // the kernel allows no RESET to ERR
      EQUAL(set_state(bench->a, IBV_QPS_RESET), 0);
      if (steps > 0) EQUAL(to_init(bench->a, NULL), 0);
      if (steps > 1) EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
      if (steps > 2) EQUAL(to_rts(bench->a, NULL), 0);
      EQUAL(set_state(bench->a, error ? IBV_QPS_ERR : IBV_QPS_RESET), 0);
      EQUAL(state_of(bench->a), error ? IBV_QPS_ERR : IBV_QPS_RESET);
    }
  }
}

static void error_is_left_by_reset_only(void) {
  struct bench *bench = connected(NULL);
  EQUAL(set_state(bench->a, IBV_QPS_ERR), 0);
  EQUAL(to_init(bench->a, NULL), EINVAL);
  EQUAL(to_rts(bench->a, NULL), EINVAL);
  EQUAL(set_state(bench->a, IBV_QPS_RESET), 0);
  EQUAL(to_init(bench->a, NULL), 0);
}

static void current_state_is_compared(void) {
  struct bench *bench = connected(NULL);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTR};
  EITHER(ibv_modify_qp(bench->a, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL, 0);
  attr.cur_qp_state = IBV_QPS_RTS;
  EQUAL(ibv_modify_qp(bench->a, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
}

static void attributes_can_be_queried(void) {
  struct bench *bench = connected(NULL);
  const struct ibv_qp_attr attr = query(bench->a);
  EQUAL(attr.dest_qp_num, bench->b->qp_num);
  EQUAL(attr.path_mtu, IBV_MTU_1024);
  EQUAL(attr.min_rnr_timer, 1);
  EQUAL(attr.timeout, 14);
  EQUAL(attr.retry_cnt, 7);
  EQUAL(attr.rnr_retry, 7);
  EQUAL(attr.port_num, 1);
  EQUAL(attr.max_rd_atomic, 4);
  EQUAL(attr.max_dest_rd_atomic, 4);
  EQUAL(attr.ah_attr.is_global, 1);
  CHECK(attr.cap.max_send_wr >= kDepth);
}

static void drained_queue_pauses(void) {
  struct bench *bench = connected(NULL);
  EQUAL(set_state(bench->a, IBV_QPS_SQD), 0);
  EQUAL(state_of(bench->a), IBV_QPS_SQD);
  EQUAL(post_receive(bench, bench->b, 64), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_SEND, 64);
  EQUAL(post(bench->a, &wr), 0);
  CHECK(silent(bench));
  EQUAL(set_state(bench->a, IBV_QPS_RTS), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  STATUS(completion(bench), IBV_WC_SUCCESS);
}

static void rnr_timer_in_rts(void) {
  struct bench *bench = connected(NULL);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .min_rnr_timer = 20};
  EQUAL(ibv_modify_qp(bench->a, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
  EQUAL(query(bench->a).min_rnr_timer, 20);
}

static void values_out_of_range(void) {
  struct bench *bench = reset(IBV_QPT_RC);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 8, .rnr_retry = 7};
  const int all =
      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  EITHER(ibv_modify_qp(bench->a, &attr, all), EINVAL, 0);
}

static const struct test_case kCases[] = {
    {"an RC queue pair goes from RESET by INIT and RTR to RTS", rc_way},
    {"a UC queue pair does, with fewer attributes", uc_way},
    {"a UD queue pair does, with a Q_Key", ud_way},
    {"INIT needs port, P_Key index and access flags", init_needs_its_attributes},
    {"INIT of UD needs a Q_Key", ud_init_needs_a_qkey},
    {"INIT takes no attribute of another transition", init_takes_no_other_attributes},
    {"a port that does not exist", bad_port},
    {"RTR needs each of its attributes", rtr_needs_its_attributes},
    {"RTS needs each of its attributes", rts_needs_its_attributes},
    {"steps cannot be left out or gone back", steps_cannot_be_left_out},
    {"every state can be left to RESET, and to ERR once it is initialized", every_state_to_reset_and_error},
    {"ERR is left by RESET only", error_is_left_by_reset_only},
    {"the current state is compared", current_state_is_compared},
    {"attributes can be queried", attributes_can_be_queried},
    {"SQD pauses the send queue, RTS continues it", drained_queue_pauses},
    {"the RNR timer can be changed in RTS", rnr_timer_in_rts},
    {"a retry count above 7", values_out_of_range},
};
GROUP(states_group, "states", kCases);
