// Completion queues (ibv_poll_cq(3), ibv_resize_cq(3), ibv_create_cq_ex(3)).
#include <errno.h>

#include "harness.h"

static void polled_in_parts(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  for (uint64_t i = 0; i < 10; ++i) {
    struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 8);
    wr.wr_id = i;
    EQUAL(post(bench->a, &wr), 0);
  }
  for (uint64_t i = 0; i < 10; ++i) EQUAL(completion(bench).wr_id, i);
  struct ibv_wc wcs[4];
  EQUAL(ibv_poll_cq(bench->cq, 4, wcs), 0);
  EQUAL(ibv_poll_cq(bench->cq, 0, wcs), 0);
}

static void resized(void) {
  struct bench *bench = connected(NULL);
  for (int i = 0; i < 5; ++i) EQUAL(post_receive(bench, bench->a, 8), 0);
  EQUAL(set_state(bench->a, IBV_QPS_ERR), 0);
  struct ibv_wc first = completion(bench);
  STATUS(first, IBV_WC_WR_FLUSH_ERR);
  const int error = ibv_resize_cq(bench->cq, 100);
  if (error == EOPNOTSUPP || error == ENOSYS) skip_case("the device does not resize");
  EQUAL(error, 0);
  CHECK(bench->cq->cqe >= 100);
  for (int i = 0; i < 4; ++i) STATUS(completion(bench), IBV_WC_WR_FLUSH_ERR);
  CHECK(ibv_resize_cq(bench->cq, bench->device.max_cqe + 1) != 0);
}

static void extended(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_cq_init_attr_ex init = {.cqe = 64};
  init.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP;
  struct ibv_cq_ex *cq = ibv_create_cq_ex(bench->context, &init);
  if (cq == NULL) skip_case("the device has no extended completion queues");
  bench->cq = ibv_cq_ex_to_cq(cq);
  connect_pair(bench, NULL);
  struct ibv_poll_cq_attr attr = {0};
  EQUAL(ibv_start_poll(cq, &attr), ENOENT);
  for (int i = 0; i < 3; ++i) transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 8);
  int found = 0;
  while (found < 3) {
    if (ibv_start_poll(cq, &attr) != 0) continue;
    do {
      EQUAL(cq->status, IBV_WC_SUCCESS);
      EQUAL(cq->wr_id, 1);
      EQUAL(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE);
      EQUAL(ibv_wc_read_qp_num(cq), bench->a->qp_num);
      ++found;
    } while (ibv_next_poll(cq) == 0);
    ibv_end_poll(cq);
  }
}

static void timestamps_do_not_run_backwards(void) {
  static const uint64_t kFields[] = {IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
                                     IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
  for (int which = 0; which < 2; ++which) {
    struct bench *bench = bench_open(NULL);
    struct ibv_cq_init_attr_ex init = {.cqe = 64, .wc_flags = kFields[which]};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(bench->context, &init);
    if (cq == NULL) skip_case("the device has no such timestamps");
    bench->cq = ibv_cq_ex_to_cq(cq);
    connect_pair(bench, NULL);
    uint64_t last = 0;
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 8; ++i) transfer(bench, bench->a, IBV_WR_RDMA_WRITE, 8);
      for (int found = 0; found < 8;) {
        struct ibv_poll_cq_attr attr = {0};
        if (ibv_start_poll(cq, &attr) != 0) continue;
        do {
          const uint64_t at = which == 0 ? ibv_wc_read_completion_ts(cq) : ibv_wc_read_completion_wallclock_ns(cq);
          CHECK(at >= last);
          last = at;
          ++found;
        } while (ibv_next_poll(cq) == 0);
        ibv_end_poll(cq);
      }
    }
  }
}

static void statuses_have_texts(void) {
  for (int status = IBV_WC_SUCCESS; status <= IBV_WC_GENERAL_ERR; ++status) {
    CHECK(ibv_wc_status_str((enum ibv_wc_status)status) != NULL);
  }
  CHECK(ibv_wc_status_str((enum ibv_wc_status)9999) != NULL);
}

static const struct test_case kCases[] = {
    {"completions come in their order, and then none", polled_in_parts},
    {"a resized queue keeps its entries", resized},
    {"an extended queue reads field by field", extended},
    {"timestamps do not run backwards", timestamps_do_not_run_backwards},
    {"every status has a text", statuses_have_texts},
};
GROUP(completion_group, "completion queues", kCases);
