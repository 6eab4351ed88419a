/* A program that links libibverbs and libhbl and does not know the software NIC. Its doorbells are plain stores. Prints
 * a line for each group of checks that succeeds, and stops at the first check that fails. */
#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hbl_doorbell.h"
#include "hbldv.h"

#define EXPECT(condition)                                   \
  do {                                                      \
    if (!(condition)) {                                     \
      printf("failed: %s (errno %d)\n", #condition, errno); \
      exit(1);                                              \
    }                                                       \
  } while (0)

static void try_nulls(struct ibv_context *context, struct ibv_qp *qp, struct ibv_cq *cq) {
  struct hbldv_encap_attr encap = {0};
  struct hbldv_usr_fifo_attr fifo = {0};
  struct hbldv_encap stale_encap;
  struct hbldv_usr_fifo stale_fifo;
  EXPECT(!hbldv_is_supported(NULL));
  EXPECT(!hbldv_open_device(NULL, NULL) && errno == EINVAL);
  EXPECT(hbldv_query_device(NULL, NULL) == EINVAL && hbldv_query_device(context, NULL) == EINVAL);
  EXPECT(hbldv_set_port_ex(NULL, NULL) == EINVAL && hbldv_set_port_ex(context, NULL) == EINVAL);
  EXPECT(hbldv_query_port(NULL, 1, NULL) == EINVAL && hbldv_query_port(context, 1, NULL) == EINVAL);
  EXPECT(!hbldv_create_usr_fifo(NULL, &fifo) && errno == EINVAL);
  EXPECT(!hbldv_create_usr_fifo(context, NULL) && errno == EINVAL);
  EXPECT(!hbldv_create_encap(NULL, &encap) && errno == EINVAL);
  EXPECT(!hbldv_create_encap(context, NULL) && errno == EINVAL);
  EXPECT(hbldv_destroy_encap(NULL) == EINVAL && hbldv_destroy_encap(&stale_encap) == EINVAL);
  EXPECT(hbldv_destroy_usr_fifo(NULL) == EINVAL && hbldv_destroy_usr_fifo(&stale_fifo) == EINVAL);
  EXPECT(!hbldv_create_cq(context, 4, NULL, 0, NULL) && errno == EINVAL);
  EXPECT(hbldv_query_cq(NULL, NULL) == EINVAL && hbldv_query_cq(cq, NULL) == EINVAL);
  EXPECT(hbldv_modify_qp(NULL, NULL, 0, NULL) == EINVAL && hbldv_modify_qp(qp, NULL, 0, NULL) == EINVAL);
  EXPECT(hbldv_query_qp(NULL, NULL) == EINVAL && hbldv_query_qp(qp, NULL) == EINVAL);
  encap.port_num = 1;
  encap.encap_type = HBLDV_ENCAP_TYPE_ENC_OVER_UDP;
  encap.udp_dst_port = 4789;
  encap.tnl_hdr_size = 8;
  encap.tnl_hdr_ptr = 16; /* not mapped */
  EXPECT(!hbldv_create_encap(context, &encap) && errno == EFAULT);
  puts("NULL, stale and unreadable pointers are errors");
}

/* Connects to a queue pair that does not exist: work requests stay outstanding. */
static void connect_to_nobody(struct ibv_context *context, struct ibv_qp *qp) {
  struct ibv_qp_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = 0xfffff0;
  attr.min_rnr_timer = 12;
  attr.max_dest_rd_atomic = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  EXPECT(ibv_query_gid(context, 2, 0, &attr.ah_attr.grh.dgid) == 0);
  EXPECT(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 0; /* no timeout */
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 1;
  EXPECT(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* How often the model's thread has slept. */
static long sleeps(void) {
  glob_t tasks;
  long count = -1;
  EXPECT(glob("/proc/self/task/*/status", 0, NULL, &tasks) == 0);
  for (size_t i = 0; i < tasks.gl_pathc; ++i) {
    char line[128];
    int is_worker = 0;
    FILE *status = fopen(tasks.gl_pathv[i], "r");
    while (status && fgets(line, sizeof line, status)) {
      is_worker |= strcmp(line, "Name:\tverbs-hbl\n") == 0;
      if (is_worker) sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    }
    if (status) fclose(status);
  }
  globfree(&tasks);
  EXPECT(count >= 0);
  return count;
}

static void wait_100_ms(void) {
  const struct timespec time = {.tv_nsec = 100 * 1000 * 1000};
  nanosleep(&time, NULL);
}

/* A queue pair goes, and its completions never come. */
static void try_sleep(struct ibv_context *context, struct ibv_pd *pd, volatile uint64_t *doorbell) {
  struct hbldv_cq_attr attr = {.port_num = 1, .cq_type = HBLDV_CQ_TYPE_QP};
  struct ibv_cq *cq = hbldv_create_cq(context, 16, NULL, 0, &attr);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
  init.cap.max_send_wr = 16;
  init.cap.max_recv_wr = init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  for (int resets = 0; resets < 2; ++resets) {
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct hbldv_query_qp_attr queue;
    EXPECT(cq && qp);
    connect_to_nobody(context, qp);
    EXPECT(hbldv_query_qp(qp, &queue) == 0 && queue.swq_cpu_addr);
    for (int i = 0; i < 4; ++i) {
      ((struct hbl_wqe *)queue.swq_cpu_addr)[i] = (struct hbl_wqe){.opcode = HBL_WQE_WRITE, .flags = HBL_WQE_SIGNALED};
    }
    *doorbell = hbl_doorbell(4, queue.qp_num, 1);
    wait_100_ms();
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    if (resets) EXPECT(ibv_modify_qp(qp, &reset, IBV_QP_STATE) == 0);
    if (!resets) EXPECT(ibv_destroy_qp(qp) == 0);
    wait_100_ms();
    const long before = sleeps();
    wait_100_ms();
    EXPECT(sleeps() - before < 10);
    if (resets) EXPECT(ibv_destroy_qp(qp) == 0);
  }
  EXPECT(ibv_destroy_cq(cq) == 0);
  puts("nothing is waited for that cannot come");
}

int main(void) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  EXPECT(list && list[0] && hbldv_is_supported(list[0]));
  struct ibv_context *context = hbldv_open_device(list[0], NULL);
  EXPECT(context);
  struct ibv_pd *pd = ibv_alloc_pd(context);
  struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
  init.cap.max_send_wr = 16;
  init.cap.max_recv_wr = init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  struct ibv_qp *qp = ibv_create_qp(pd, &init);
  EXPECT(pd && cq && qp);
  try_nulls(context, qp, cq);

  connect_to_nobody(context, qp);
  struct hbldv_query_qp_attr queue;
  EXPECT(hbldv_query_qp(qp, &queue) == 0 && queue.swq_cpu_addr);
  struct hbldv_usr_fifo_attr attr = {.port_num = 1, .usr_fifo_type = HBLDV_USR_FIFO_TYPE_DB};
  struct hbldv_usr_fifo *fifo = hbldv_create_usr_fifo(context, &attr);
  EXPECT(fifo);
  volatile uint64_t *doorbell = (volatile uint64_t *)((char *)fifo->regs_cpu_addr + fifo->regs_offset);
  volatile uint32_t *halves = (volatile uint32_t *)doorbell;
  volatile uint32_t *consumer = fifo->ci_cpu_addr;

  /* In two halves, the lower one first. The queue pair does not exist, so the doorbell has no other effect. */
  halves[0] = 1;
  halves[1] = 1u << (HBL_DOORBELL_PORT_SHIFT - 32);
  while (*consumer != 1) sched_yield();
  puts("a doorbell in two halves is one doorbell");

  try_sleep(context, pd, doorbell);

  for (int i = 0; i < 16; ++i) {
    ((struct hbl_wqe *)queue.swq_cpu_addr)[i] = (struct hbl_wqe){.opcode = HBL_WQE_WRITE};
  }
  /* The first doorbell fills the NIC's queue and the second one waits, so the FIFO fills up. */
  *doorbell = hbl_doorbell(16, queue.qp_num, 1);
  for (int i = 0; i < 80; ++i) *doorbell = hbl_doorbell(32, queue.qp_num, 1);
  struct ibv_async_event event;
  EXPECT(ibv_get_async_event(context, &event) == 0 && event.event_type == IBV_EVENT_DEVICE_FATAL);
  ibv_ack_async_event(&event);
  puts("an overrun is an asynchronous event");

  EXPECT(hbldv_destroy_usr_fifo(fifo) == 0 && hbldv_destroy_usr_fifo(fifo) == EINVAL);
  *doorbell = 0; /* the register of a destroyed FIFO */
  EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0);
  EXPECT(ibv_close_device(context) == 0);
  ibv_free_device_list(list);
  puts("all is closed");
  return 0;
}
