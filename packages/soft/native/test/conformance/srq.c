// Shared receive queues (IBTA 10.2.9, 10.8.3; ibv_create_srq(3), ibv_modify_srq(3)).
#include <errno.h>

#include "harness.h"

static struct ibv_srq *make_srq(struct bench *bench, uint32_t requests) {
  struct ibv_srq_init_attr init = {.attr = {.max_wr = requests, .max_sge = 2}};
  if (bench->device.max_srq == 0) skip_case("the device has no shared receive queues");
  struct ibv_srq *srq = ibv_create_srq(bench->pd, &init);
  CHECK(srq != NULL);
  CHECK(init.attr.max_wr >= requests);
  return srq;
}

static int give(struct bench *bench, struct ibv_srq *srq, uint64_t id) {
  struct ibv_sge sge = piece(bench, kRegion / 2 + 256 * id, 256);
  struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
  return ibv_post_srq_recv(srq, &wr, &bad);
}

static struct bench *sharing(struct ibv_srq **srq) {
  struct bench *bench = bench_open(NULL);
  *srq = make_srq(bench, 16);
  const struct plan plan = {.srq = *srq};
  connect_pair(bench, &plan);
  return bench;
}

static void queue_pairs_share(void) {
  struct ibv_srq *srq = NULL;
  struct bench *bench = sharing(&srq);
  for (uint64_t i = 0; i < 4; ++i) EQUAL(give(bench, srq, i), 0);
  for (int i = 0; i < 4; ++i) transfer(bench, i % 2 == 0 ? bench->a : bench->b, IBV_WR_SEND, 200);
  uint64_t seen = 0;
  for (int i = 0; i < 8; ++i) {
    const struct ibv_wc wc = completion(bench);
    STATUS(wc, IBV_WC_SUCCESS);
    if (wc.opcode == IBV_WC_RECV) seen |= 1ull << wc.wr_id;
  }
  EQUAL(seen, 0xf);
}

static void requests_are_taken_in_order(void) {
  struct ibv_srq *srq = NULL;
  struct bench *bench = sharing(&srq);
  for (uint64_t i = 0; i < 8; ++i) EQUAL(give(bench, srq, i), 0);
  for (int i = 0; i < 8; ++i) transfer(bench, bench->a, IBV_WR_SEND, 10);
  for (uint64_t i = 0; i < 8; ++i) EQUAL(completion_of(bench, bench->b).wr_id, i);
}

static void the_limit_event_comes_once(void) {
  struct ibv_srq *srq = NULL;
  struct bench *bench = sharing(&srq);
  for (uint64_t i = 0; i < 6; ++i) EQUAL(give(bench, srq, i), 0);
  struct ibv_srq_attr attr = {.srq_limit = 4};
  EQUAL(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
  EQUAL(ibv_query_srq(srq, &attr), 0);
  EQUAL(attr.srq_limit, 4);
  for (int i = 0; i < 4; ++i) {
    transfer(bench, bench->a, IBV_WR_SEND, 10);
    STATUS(completion_of(bench, bench->b), IBV_WC_SUCCESS);
  }
  CHECK(saw_event(bench, IBV_EVENT_SRQ_LIMIT_REACHED));
  EQUAL(ibv_query_srq(srq, &attr), 0);
  EQUAL(attr.srq_limit, 0);  // disarmed
}

static void a_full_queue(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_srq *srq = make_srq(bench, 8);
  struct ibv_srq_attr attr;
  EQUAL(ibv_query_srq(srq, &attr), 0);
  for (uint32_t i = 0; i < attr.max_wr; ++i) EQUAL(give(bench, srq, i % 8), 0);
  EQUAL(give(bench, srq, 0), ENOMEM);
}

static void a_limit_above_the_size(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_srq *srq = make_srq(bench, 8);
  struct ibv_srq_attr attr = {.srq_limit = 1 << 20};
  EQUAL(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
}

static void no_own_receive_queue(void) {
  struct ibv_srq *srq = NULL;
  struct bench *bench = sharing(&srq);
  EITHER(post_receive(bench, bench->a, 8), EINVAL, ENOMEM);
}

static void the_last_request_is_announced(void) {
  struct ibv_srq *srq = NULL;
  struct bench *bench = sharing(&srq);
  EQUAL(give(bench, srq, 0), 0);
  EQUAL(set_state(bench->b, IBV_QPS_ERR), 0);
  CHECK(saw_event(bench, IBV_EVENT_QP_LAST_WQE_REACHED));
  CHECK(silent(bench));  // the shared queue is not flushed
}

static void a_queue_in_use_stays(void) {
  struct ibv_srq *srq = NULL;
  struct bench *bench = sharing(&srq);
  EQUAL(ibv_destroy_srq(srq), EBUSY);
  EQUAL(ibv_destroy_qp(bench->a), 0);
  EQUAL(ibv_destroy_qp(bench->b), 0);
  EQUAL(ibv_destroy_srq(srq), 0);
}

static const struct test_case kCases[] = {
    {"queue pairs share receive requests", queue_pairs_share},
    {"requests are taken in their order", requests_are_taken_in_order},
    {"the limit event comes once and disarms the limit", the_limit_event_comes_once},
    {"a full queue is ENOMEM", a_full_queue},
    {"a limit above the size", a_limit_above_the_size},
    {"its queue pairs have no receive queue of their own", no_own_receive_queue},
    {"a queue pair in error announces its last request", the_last_request_is_announced},
    {"a queue in use stays", a_queue_in_use_stays},
};
GROUP(srq_group, "shared receive queues", kCases);
