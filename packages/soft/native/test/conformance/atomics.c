// Atomic operations (IBTA 9.4.5, 10.6.7).
#include <errno.h>
#include <string.h>

#include "harness.h"

static uint64_t word_at(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void set_word(uint8_t *at, uint64_t value) { memcpy(at, &value, sizeof value); }

static struct bench *with_atomics(void) {
  struct bench *bench = connected(NULL);
  if (bench->device.atomic_cap == IBV_ATOMIC_NONE) skip_case("the device has no atomics");
  return bench;
}

static void adds(void) {
  struct bench *bench = with_atomics();
  set_word(far_at(bench, 0), UINT64_MAX - 1);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
  wr.wr.atomic.compare_add = 5;
  EQUAL(post(bench->a, &wr), 0);
  const struct ibv_wc wc = completion(bench);
  STATUS(wc, IBV_WC_SUCCESS);
  EQUAL(wc.opcode, IBV_WC_FETCH_ADD);
  EQUAL(word_at(bench->memory), UINT64_MAX - 1);  // the value before
  EQUAL(word_at(far_at(bench, 0)), 3);
}

static void swaps_if_equal(void) {
  struct bench *bench = with_atomics();
  for (int equal = 0; equal < 2; ++equal) {
    set_word(far_at(bench, 0), 42);
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_CMP_AND_SWP, 8);
    wr.wr.atomic.compare_add = equal ? 42 : 41;
    wr.wr.atomic.swap = 77;
    EQUAL(post(bench->a, &wr), 0);
    const struct ibv_wc wc = completion(bench);
    STATUS(wc, IBV_WC_SUCCESS);
    EQUAL(wc.opcode, IBV_WC_COMP_SWAP);
    EQUAL(word_at(bench->memory), 42);
    EQUAL(word_at(far_at(bench, 0)), equal ? 77 : 42);
  }
}

static void many_at_once(void) {
  struct bench *bench = with_atomics();
  set_word(far_at(bench, 0), 0);
  for (uint64_t i = 0; i < 40; ++i) {
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
    sge.addr += 8 * i;
    wr.wr.atomic.compare_add = 1;
    EQUAL(post(i % 2 == 0 ? bench->a : bench->b, &wr), 0);
  }
  for (int i = 0; i < 40; ++i) STATUS(completion(bench), IBV_WC_SUCCESS);
  EQUAL(word_at(far_at(bench, 0)), 40);
  uint64_t seen = 0;
  for (size_t i = 0; i < 40; ++i) seen |= 1ull << word_at(bench->memory + 8 * i);
  EQUAL(seen, (1ull << 40) - 1);
}

// A device may look at the address when the request is posted.
static bool refused_at_once(struct bench *bench, struct ibv_send_wr *wr) {
  const int error = post(bench->a, wr);
  EITHER(error, 0, EINVAL);
  return error != 0;
}

static void an_address_that_is_not_aligned(void) {
  struct bench *bench = with_atomics();
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
  wr.wr.atomic.remote_addr += 4;
  if (refused_at_once(bench, &wr)) return;
  EITHER(completion(bench).status, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
}

static void a_wrong_key(void) {
  struct bench *bench = with_atomics();
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_CMP_AND_SWP, 8);
  wr.wr.atomic.rkey ^= 0x100;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion(bench), IBV_WC_REM_ACCESS_ERR);
}

// Devices differ in what they look at first.
static void a_wrong_key_and_no_alignment(void) {
  struct bench *bench = with_atomics();
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_CMP_AND_SWP, 8);
  wr.wr.atomic.rkey ^= 0x100;
  wr.wr.atomic.remote_addr += 1;
  if (refused_at_once(bench, &wr)) return;
  EITHER(completion(bench).status, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
}

// Devices differ in when they look at the L_Key: before they send, or when the response has come.
static void a_wrong_local_key(void) {
  static const enum ibv_wr_opcode kOpcodes[] = {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};
  for (int i = 0; i < 2; ++i) {
    struct bench *bench = with_atomics();
    set_word(far_at(bench, 0), 5);
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(bench, &sge, kOpcodes[i], 8);
    if (i == 1) wr.wr.atomic.compare_add = 1;
    sge.lkey ^= 0x100;
    EQUAL(post(bench->a, &wr), 0);
    EITHER(completion(bench).status, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR);
    if (i == 1) EITHER(word_at(far_at(bench, 0)), 6, 5);
  }
}

static void a_region_without_the_right(void) {
  struct bench *bench = with_atomics();
  struct ibv_mr *mr = ibv_reg_mr(bench->pd, bench->memory, kRegion,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
  wr.wr.atomic.rkey = mr->rkey;
  EQUAL(post(bench->a, &wr), 0);
  STATUS(completion(bench), IBV_WC_REM_ACCESS_ERR);
}

static void a_queue_pair_without_the_right(void) {
  const struct plan plan = {.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  struct bench *bench = connected(&plan);
  if (bench->device.atomic_cap == IBV_ATOMIC_NONE) skip_case("the device has no atomics");
  transfer(bench, bench->a, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
  EITHER(completion(bench).status, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR);
}

static const struct test_case kCases[] = {
    {"FETCH_ADD returns the value before, and wraps", adds},
    {"CMP_SWAP swaps if equal, and returns the value before", swaps_if_equal},
    {"each addition happens once", many_at_once},
    {"an address that is not aligned", an_address_that_is_not_aligned},
    {"a wrong R_Key", a_wrong_key},
    {"a wrong R_Key and an address that is not aligned", a_wrong_key_and_no_alignment},
    {"a wrong L_Key of a READ or an atomic", a_wrong_local_key},
    {"a region without the right", a_region_without_the_right},
    {"a queue pair without the right", a_queue_pair_without_the_right},
};
GROUP(atomics_group, "atomics", kCases);
