// Receivers that are not ready, retries, and flushed queues (IBTA 9.7.5, 9.9, 10.3.1, 10.8.5).
#include <errno.h>
#include <unistd.h>

#include "harness.h"

static void waits_for_a_receive_request(void) {
  struct bench *bench = connected(NULL);
  transfer(bench, bench->a, IBV_WR_SEND, 64);
  CHECK(silent(bench));
  EQUAL(post_receive(bench, bench->b, 64), 0);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  CHECK(same_bytes(bench, 0, kRegion / 2, 64));
}

static void gives_up_without_retries(void) {
  const struct plan plan = {.rnr_retry = -1};
  struct bench *bench = connected(&plan);
  transfer(bench, bench->a, IBV_WR_SEND, 64);
  STATUS(completion(bench), IBV_WC_RNR_RETRY_EXC_ERR);
  EQUAL(state_of(bench->a), IBV_QPS_ERR);
  EQUAL(state_of(bench->b), IBV_QPS_RTS);
}

static void gives_up_after_some(void) {
  const struct plan plan = {.rnr_retry = 3};
  struct bench *bench = connected(&plan);
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE_WITH_IMM, 64);
  STATUS(completion(bench), IBV_WC_RNR_RETRY_EXC_ERR);
}

static void nobody_answers(void) {
  const struct plan plan = {.timeout = 8, .retry_cnt = 1};
  struct bench *bench = connected(&plan);
  EQUAL(ibv_destroy_qp(bench->b), 0);
  transfer(bench, bench->a, IBV_WR_SEND, 64);
  STATUS(completion(bench), IBV_WC_RETRY_EXC_ERR);
  EQUAL(state_of(bench->a), IBV_QPS_ERR);
}

static void a_message_longer_than_its_buffer(void) {
  struct bench *bench = connected(NULL);
  EQUAL(post_receive(bench, bench->b, 63), 0);
  transfer(bench, bench->a, IBV_WR_SEND, 64);
  EITHER(completion_of(bench, bench->a).status, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR);
  STATUS(completion_of(bench, bench->b), IBV_WC_LOC_LEN_ERR);
  EQUAL(state_of(bench->b), IBV_QPS_ERR);
}

static void the_error_state_flushes_in_order(void) {
  struct bench *bench = connected(NULL);
  for (int i = 0; i < 3; ++i) EQUAL(post_receive(bench, bench->a, 64), 0);
  struct ibv_sge sge;
  for (uint64_t i = 0; i < 4; ++i) {
    struct ibv_send_wr wr = request(bench, &sge, IBV_WR_SEND, 64);  // to nobody's receive request
    wr.wr_id = i;
    wr.send_flags = i == 2 ? 0 : IBV_SEND_SIGNALED;
    EQUAL(post(bench->a, &wr), 0);
  }
  EQUAL(set_state(bench->a, IBV_QPS_ERR), 0);
  uint64_t sends = 0;
  int receives = 0;
  for (int i = 0; i < 7; ++i) {
    const struct ibv_wc wc = completion_of(bench, bench->a);
    STATUS(wc, IBV_WC_WR_FLUSH_ERR);
    if (wc.wr_id == 100) {
      ++receives;
    } else {
      EQUAL(wc.wr_id, sends++);  // unsignaled ones as well
    }
  }
  EQUAL(sends, 4);
  EQUAL(receives, 3);
}

static void requests_in_the_error_state_are_flushed(void) {
  struct bench *bench = connected(NULL);
  EQUAL(set_state(bench->a, IBV_QPS_ERR), 0);
  transfer(bench, bench->a, IBV_WR_SEND, 64);
  STATUS(completion(bench), IBV_WC_WR_FLUSH_ERR);
  EQUAL(post_receive(bench, bench->a, 64), 0);
  STATUS(completion(bench), IBV_WC_WR_FLUSH_ERR);
}

static void what_follows_a_failed_request_is_flushed(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sges[3];
  struct ibv_send_wr wrs[3];
  for (int i = 0; i < 3; ++i) {
    wrs[i] = request(bench, &sges[i], IBV_WR_RDMA_WRITE, 64);
    wrs[i].wr_id = (uint64_t)i;
    wrs[i].next = i < 2 ? &wrs[i + 1] : NULL;
  }
  wrs[1].wr.rdma.rkey ^= 0x100;
  EQUAL(post(bench->a, wrs), 0);
  static const enum ibv_wc_status kExpected[] = {IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR};
  for (uint64_t i = 0; i < 3; ++i) {
    const struct ibv_wc wc = completion_of(bench, bench->a);
    EQUAL(wc.wr_id, i);
    STATUS(wc, kExpected[i]);
  }
}

static void reset_forgets(void) {
  struct bench *bench = connected(NULL);
  for (int i = 0; i < 3; ++i) EQUAL(post_receive(bench, bench->a, 64), 0);
  EQUAL(set_state(bench->a, IBV_QPS_RESET), 0);
  CHECK(silent(bench));
}

static void a_reset_queue_pair_works_again(void) {
  struct bench *bench = connected(NULL);
  struct ibv_qp *pair[] = {bench->a, bench->b};
  for (int i = 0; i < 2; ++i) EQUAL(set_state(pair[i], IBV_QPS_RESET), 0);
  for (int i = 0; i < 2; ++i) {
    EQUAL(to_init(pair[i], NULL), 0);
    EQUAL(to_rtr(bench, pair[i], NULL, pair[1 - i]->qp_num), 0);
    EQUAL(to_rts(pair[i], NULL), 0);
  }
  transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 3000);
  STATUS(completion(bench), IBV_WC_SUCCESS);
  CHECK(same_bytes(bench, 0, kRegion / 2, 3000));
}

// Devices differ: adapters take a request in any state, and send it later or never.
static void sends_before_rts(void) {
  struct bench *bench = bench_open(NULL);
  bench->a = make_qp(bench, NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_SEND, 8);
  EITHER(post(bench->a, &wr), EINVAL, 0);
  EQUAL(to_init(bench->a, NULL), 0);
  EITHER(post(bench->a, &wr), EINVAL, 0);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  EITHER(post(bench->a, &wr), EINVAL, 0);
}

static void receives_from_init_on(void) {
  struct bench *bench = bench_open(NULL);
  bench->a = make_qp(bench, NULL);
  EITHER(post_receive(bench, bench->a, 8), EINVAL, 0);
  EQUAL(to_init(bench->a, NULL), 0);
  EQUAL(post_receive(bench, bench->a, 8), 0);
  EQUAL(to_rtr(bench, bench->a, NULL, bench->a->qp_num), 0);
  EQUAL(post_receive(bench, bench->a, 8), 0);
}

static const struct test_case kCases[] = {
    {"a message waits for a receive request", waits_for_a_receive_request},
    {"an rnr_retry of 0 gives up at once", gives_up_without_retries},
    {"an rnr_retry of 3 gives up", gives_up_after_some},
    {"a peer that does not answer", nobody_answers},
    {"a message longer than its buffer", a_message_longer_than_its_buffer},
    {"the error state flushes each queue in its order", the_error_state_flushes_in_order},
    {"requests in the error state are flushed", requests_in_the_error_state_are_flushed},
    {"what follows a failed request is flushed", what_follows_a_failed_request_is_flushed},
    {"RESET forgets what was posted", reset_forgets},
    {"a queue pair works again after RESET", a_reset_queue_pair_works_again},
    {"requests before RTS", sends_before_rts},
    {"receive requests from INIT on", receives_from_init_on},
};
GROUP(errors_group, "errors", kCases);
