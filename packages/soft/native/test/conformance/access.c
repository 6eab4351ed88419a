// Keys, ranges and rights (IBTA 9.7.4.1, 10.6.3, 11.6.2).
#include <errno.h>

#include "harness.h"

enum { kRemote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

// The request fails with `status`, and both ends of the connection are in the error state.
static void refused(struct bench *bench, struct ibv_send_wr *wr, enum ibv_wc_status status) {
  EQUAL(post(bench->a, wr), 0);
  STATUS(completion_of(bench, bench->a), status);
  EQUAL(state_of(bench->a), IBV_QPS_ERR);
  CHECK(saw_event(bench, status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR));
  EQUAL(state_of(bench->b), IBV_QPS_ERR);
}

static void a_wrong_key(void) {
  static const enum ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
  for (int i = 0; i < 2; ++i) {
    struct bench *bench = connected(NULL);
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, kOpcodes[i], 64);
    wr.wr.rdma.rkey ^= 0x100;
    refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
  }
}

static void a_range_past_the_end(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 64);
  wr.wr.rdma.remote_addr = address(bench->memory + kRegion - 63);
  refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
}

static void a_range_before_the_start(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_READ, 64);
  wr.wr.rdma.remote_addr = address(bench->memory) - 1;
  refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
}

static void a_range_that_wraps(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 64);
  wr.wr.rdma.remote_addr = UINT64_MAX - 8;
  refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
}

static void a_right_that_the_region_lacks(void) {
  static const struct {
    enum ibv_wr_opcode opcode;
    int access;
  } kWays[] = {{IBV_WR_RDMA_WRITE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ},
               {IBV_WR_RDMA_READ, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE}};
  for (int i = 0; i < 2; ++i) {
    struct bench *bench = connected(NULL);
    struct ibv_mr *mr = ibv_reg_mr(bench->pd, bench->memory, kRegion, kWays[i].access);
    CHECK(mr != NULL);
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, kWays[i].opcode, 64);
    wr.wr.rdma.rkey = mr->rkey;
    refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
  }
}

static void a_right_that_the_queue_pair_lacks(void) {
  static const enum ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
  for (int i = 0; i < 2; ++i) {
    const struct plan plan = {.access = -1};
    struct bench *bench = connected(&plan);
    transfer(bench, bench->a, kOpcodes[i], 64);
    EITHER(completion_of(bench, bench->a).status, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
    EQUAL(state_of(bench->a), IBV_QPS_ERR);
  }
}

static void a_region_of_another_domain(void) {
  struct bench *bench = connected(NULL);
  struct ibv_pd *pd = ibv_alloc_pd(bench->context);
  struct ibv_mr *mr = ibv_reg_mr(pd, bench->memory, kRegion, kRemote);
  CHECK(mr != NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 64);
  wr.wr.rdma.rkey = mr->rkey;
  refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
}

static void a_region_that_is_gone(void) {
  struct bench *bench = connected(NULL);
  struct ibv_mr *mr = ibv_reg_mr(bench->pd, bench->memory, kRegion, kRemote);
  CHECK(mr != NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_READ, 64);
  wr.wr.rdma.rkey = mr->rkey;
  EQUAL(ibv_dereg_mr(mr), 0);
  refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
}

static void nothing_is_written_by_a_refused_request(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 60000);
  wr.wr.rdma.remote_addr = address(bench->memory + kRegion - 59999);
  const uint8_t before = bench->memory[kRegion - 59999];
  bench->memory[0] = (uint8_t)~before;
  refused(bench, &wr, IBV_WC_REM_ACCESS_ERR);
  EQUAL(bench->memory[kRegion - 59999], before);
}

static void a_wrong_local_key(void) {
  static const enum ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
  for (int i = 0; i < 3; ++i) {
    struct bench *bench = connected(NULL);
    EQUAL(post_receive(bench, bench->b, 64), 0);
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, kOpcodes[i], 64);
    sge.lkey ^= 0x100;
    EQUAL(post(bench->a, &wr), 0);
    STATUS(completion_of(bench, bench->a), IBV_WC_LOC_PROT_ERR);
    EQUAL(state_of(bench->a), IBV_QPS_ERR);
  }
}

static void a_local_range_past_the_end(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE, 64);
  sge.addr = address(bench->memory + kRegion - 63);
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->a), IBV_WC_LOC_PROT_ERR);
}

static void a_read_into_read_only_memory(void) {
  struct bench *bench = connected(NULL);
  struct ibv_mr *mr = ibv_reg_mr(bench->pd, bench->memory, kRegion, 0);
  CHECK(mr != NULL);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_READ, 64);
  sge.lkey = mr->lkey;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->a), IBV_WC_LOC_PROT_ERR);
}

static void a_receive_with_a_wrong_key(void) {
  struct bench *bench = connected(NULL);
  struct ibv_sge sge = piece(bench, kRegion / 2, 64);
  sge.lkey ^= 0x100;
  struct ibv_recv_wr receive = {.wr_id = 5, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
  EQUAL(ibv_post_recv(bench->b, &receive, &bad), 0);
  transfer(bench, bench->a, IBV_WR_SEND, 64);
  STATUS(completion_of(bench, bench->b), IBV_WC_LOC_PROT_ERR);
  STATUS(completion_of(bench, bench->a), IBV_WC_REM_OP_ERR);
}

// The receive request of a WRITE with immediate that is refused completes with an error that tells what happened
// (IBTA 11.6.2); some devices flush it.
static void a_write_with_immediate_and_a_wrong_key(void) {
  struct bench *bench = connected(NULL);
  EQUAL(post_receive(bench, bench->b, 0), 0);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_RDMA_WRITE_WITH_IMM, 64);
  wr.wr.rdma.rkey ^= 0x100;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion_of(bench, bench->a), IBV_WC_REM_ACCESS_ERR);
  const enum ibv_wc_status status = completion_of(bench, bench->b).status;
  if (status == IBV_WC_REM_ACCESS_ERR && !options.exact)
    return note_case("IBV_WC_REM_ACCESS_ERR, as the kernel's soft-RoCE");
  EITHER(status, IBV_WC_LOC_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR);
}

static const struct test_case kCases[] = {
    {"a wrong R_Key", a_wrong_key},
    {"a range past the end of the region", a_range_past_the_end},
    {"a range before its start", a_range_before_the_start},
    {"a range that wraps", a_range_that_wraps},
    {"a right that the region lacks", a_right_that_the_region_lacks},
    {"a right that the queue pair lacks", a_right_that_the_queue_pair_lacks},
    {"a region of another domain", a_region_of_another_domain},
    {"a region that is gone", a_region_that_is_gone},
    {"a refused WRITE writes nothing", nothing_is_written_by_a_refused_request},
    {"a wrong L_Key", a_wrong_local_key},
    {"a local range past the end of the region", a_local_range_past_the_end},
    {"a READ into memory without local write", a_read_into_read_only_memory},
    {"a receive request with a wrong L_Key", a_receive_with_a_wrong_key},
    {"a WRITE with immediate and a wrong R_Key", a_write_with_immediate_and_a_wrong_key},
};
GROUP(access_group, "access", kCases);
