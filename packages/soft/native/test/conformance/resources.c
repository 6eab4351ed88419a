// Making and destroying objects: limits, what they hold, and the errors (IBTA 11.2; ibv_*(3)).
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "harness.h"

static void used_objects_stay(void) {
  struct bench *bench = connected(NULL);
  EQUAL(ibv_dealloc_pd(bench->pd), EBUSY);
  EQUAL(ibv_destroy_cq(bench->cq), EBUSY);
  EQUAL(ibv_destroy_qp(bench->a), 0);
  EQUAL(ibv_destroy_cq(bench->cq), EBUSY);
  EQUAL(ibv_destroy_qp(bench->b), 0);
  EQUAL(ibv_destroy_cq(bench->cq), 0);
  EQUAL(ibv_dealloc_pd(bench->pd), EBUSY);
  EQUAL(ibv_dereg_mr(bench->mr), 0);
  EQUAL(ibv_dealloc_pd(bench->pd), 0);
}

static void a_domain_with_a_handle_stays(void) {
  struct bench *bench = bench_open(NULL);
  EQUAL(ibv_dereg_mr(bench->mr), 0);
  struct ibv_ah_attr attr = address_of(bench);
  struct ibv_ah *ah = ibv_create_ah(bench->pd, &attr);
  CHECK(ah != NULL);
  EITHER(ibv_dealloc_pd(bench->pd), EBUSY, 0);
}

static void completion_queue_sizes(void) {
  struct bench *bench = bench_open(NULL);
  errno = 0;
  CHECK(ibv_create_cq(bench->context, 0, NULL, NULL, 0) == NULL);
  EQUAL(errno, EINVAL);
  CHECK(ibv_create_cq(bench->context, bench->device.max_cqe + 1, NULL, NULL, 0) == NULL);
  struct ibv_cq *cq = ibv_create_cq(bench->context, 100, NULL, NULL, 0);
  CHECK(cq != NULL && cq->cqe >= 100);
}

static void queue_pair_limits(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_qp_init_attr init = {.send_cq = bench->cq, .recv_cq = bench->cq, .qp_type = IBV_QPT_RC};
  init.cap = (struct ibv_qp_cap){(uint32_t)bench->device.max_qp_wr + 1, 1, 1, 1, 0};
  CHECK(ibv_create_qp(bench->pd, &init) == NULL);
  init.cap = (struct ibv_qp_cap){1, 1, (uint32_t)bench->device.max_sge + 1000, 1, 0};
  CHECK(ibv_create_qp(bench->pd, &init) == NULL);
  init.cap = (struct ibv_qp_cap){10, 11, 2, 3, 16};
  CHECK(ibv_create_qp(bench->pd, &init) != NULL);
  CHECK(init.cap.max_send_wr >= 10 && init.cap.max_recv_wr >= 11);
  CHECK(init.cap.max_send_sge >= 2 && init.cap.max_recv_sge >= 3);
  CHECK(init.cap.max_inline_data >= 16);
}

// Adapters keep inline data where the scatter list would be, so there is room for some that was not asked for.
static void inline_room_of_a_scatter_list(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_qp_init_attr init = {.send_cq = bench->cq, .recv_cq = bench->cq, .qp_type = IBV_QPT_RC};
  init.cap = (struct ibv_qp_cap){4, 4, 2, 1, 0};
  CHECK(ibv_create_qp(bench->pd, &init) != NULL);
  CHECK(init.cap.max_inline_data >= 2 * sizeof(struct ibv_sge));
}

static void a_queue_pair_needs_queues(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_qp_init_attr init = {.send_cq = bench->cq, .recv_cq = bench->cq, .qp_type = (enum ibv_qp_type)77};
  init.cap = (struct ibv_qp_cap){1, 1, 1, 1, 0};
  errno = 0;
  CHECK(ibv_create_qp(bench->pd, &init) == NULL);
  EITHER(errno, EOPNOTSUPP, EINVAL);
}

static void a_region_of_unmapped_memory(void) {
  struct bench *bench = bench_open(NULL);
  void *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, 4096);
  errno = 0;
  CHECK(ibv_reg_mr(bench->pd, gone, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL);
  EITHER(errno, EFAULT, ENOMEM);
}

static void a_writable_region_of_read_only_memory(void) {
  struct bench *bench = bench_open(NULL);
  void *constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = 0;
  CHECK(ibv_reg_mr(bench->pd, constant, 4096, IBV_ACCESS_LOCAL_WRITE) == NULL);
  EQUAL(errno, EFAULT);
  CHECK(ibv_reg_mr(bench->pd, constant, 4096, 0) != NULL);
}

static void remote_write_needs_local_write(void) {
  struct bench *bench = bench_open(NULL);
  errno = 0;
  CHECK(ibv_reg_mr(bench->pd, bench->memory, 4096, IBV_ACCESS_REMOTE_WRITE) == NULL);
  EQUAL(errno, EINVAL);
  CHECK(ibv_reg_mr(bench->pd, bench->memory, 4096, IBV_ACCESS_REMOTE_ATOMIC) == NULL);
  EQUAL(errno, EINVAL);
  CHECK(ibv_reg_mr(bench->pd, bench->memory, 4096, IBV_ACCESS_REMOTE_READ) != NULL);
}

// ib_uverbs_reg_mr(): an adapter translates whole pages.
static void an_address_with_another_page_offset(void) {
  struct bench *bench = bench_open(NULL);
  // Pages have 64 KiB at most.
  const uint64_t iova = UINT64_C(0x7000000000) | ((uintptr_t)bench->memory & 0xffff);
  errno = 0;
  CHECK(ibv_reg_mr_iova2(bench->pd, bench->memory + 8, 64, iova + 16, IBV_ACCESS_LOCAL_WRITE) == NULL);
  EQUAL(errno, EINVAL);
  struct ibv_mr *mr = ibv_reg_mr_iova2(bench->pd, bench->memory + 8, 64, iova + 8, IBV_ACCESS_LOCAL_WRITE);
  CHECK(mr != NULL);
  EQUAL(ibv_dereg_mr(mr), 0);
}

static void device_and_port(void) {
  struct bench *bench = bench_open(NULL);
  CHECK(bench->device.phys_port_cnt >= 1);
  EQUAL(bench->port.state, IBV_PORT_ACTIVE);
  EQUAL(bench->port.link_layer, IBV_LINK_LAYER_ETHERNET);
  CHECK(bench->port.active_mtu <= bench->port.max_mtu);
  CHECK(bench->port.max_msg_sz >= 1 << 20);
  __be16 pkey = 0;
  EQUAL(ibv_query_pkey(bench->context, 1, 0, &pkey), 0);
  EQUAL(pkey, 0xffff);
  CHECK(ibv_query_pkey(bench->context, 1, bench->port.pkey_tbl_len, &pkey) != 0);
  struct ibv_port_attr attr;
  CHECK(ibv_query_port(bench->context, (uint8_t)(bench->device.phys_port_cnt + 1), &attr) != 0);
  union ibv_gid gid;
  CHECK(ibv_query_gid(bench->context, 1, bench->port.gid_tbl_len, &gid) != 0);
}

static void a_gid_has_its_type(void) {
  struct bench *bench = bench_open(NULL);
  struct ibv_gid_entry entry;
  EQUAL(ibv_query_gid_ex(bench->context, 1, (uint32_t)bench->gid_index, &entry, 0), 0);
  EQUAL(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
  EQUAL(entry.port_num, 1);
  EQUAL(entry.gid_index, bench->gid_index);
}

static const struct test_case kCases[] = {
    {"what is in use cannot be destroyed", used_objects_stay},
    {"a domain with an address handle", a_domain_with_a_handle_stays},
    {"sizes of completion queues", completion_queue_sizes},
    {"queue pairs up to the device's limits, with at least what was asked for", queue_pair_limits},
    {"inline data where the scatter list would be, unasked", inline_room_of_a_scatter_list},
    {"a queue pair of no type", a_queue_pair_needs_queues},
    {"a region of unmapped memory", a_region_of_unmapped_memory},
    {"a writable region of read-only memory", a_writable_region_of_read_only_memory},
    {"remote write and atomics need local write", remote_write_needs_local_write},
    {"a region's address has the page offset of its memory", an_address_with_another_page_offset},
    {"device, port, P_Key and GID queries", device_and_port},
    {"a GID tells its RoCE version", a_gid_has_its_type},
};
GROUP(resources_group, "resources", kCases);
