/* Does what each letter of its argument says, in their order:
 *   r  registers a region
 *   f  creates a user FIFO
 *   v  unmaps the memory of the region, and has the FIFO's worker write from it
 *   b  the same by ibv_post_send(), while this thread blocks all signals
 *   c  installs a crash reporter that calls the handler it found
 *   n  installs one that ends the process with status 7
 *   x  makes a fault that is no business of RDMA
 * The signal mask must never change. Prints a line for each call of a reporter by x. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hbl_doorbell.h"
#include "hbldv.h"

#define EXPECT(condition)                                   \
  do {                                                      \
    if (!(condition)) {                                     \
      printf("failed: %s (errno %d)\n", #condition, errno); \
      exit(1);                                              \
    }                                                       \
  } while (0)

enum { SIZE = 8192 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *region, *target;
static struct hbldv_usr_fifo *fifo;
static char target_memory[SIZE];

static void connect_to(struct ibv_qp *qp, const struct ibv_qp *peer) {
  struct ibv_qp_attr attr;
  memset(&attr, 0, sizeof attr);
  struct hbldv_qp_attr init = {.wq_type = HBLDV_WQ_WRITE, .wq_granularity = HBLDV_SWQE_GRAN_32B},
                       rtr = {.local_key = region->lkey}, rts = {.remote_key = target->rkey, .priority = 1};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  EXPECT(hbldv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, &init) == 0);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer->qp_num;
  attr.min_rnr_timer = 12;
  attr.max_dest_rd_atomic = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  EXPECT(ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid) == 0);
  EXPECT(hbldv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                         &rtr) == 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 1;
  EXPECT(hbldv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_MAX_QP_RD_ATOMIC,
                         &rts) == 0);
}

static void ring(struct ibv_qp *qp, uint64_t from) {
  struct hbldv_query_qp_attr queue;
  EXPECT(fifo && hbldv_query_qp(qp, &queue) == 0 && queue.swq_cpu_addr);
  struct hbl_wqe *wqe = queue.swq_cpu_addr;
  *wqe = (struct hbl_wqe){.opcode = HBL_WQE_WRITE, .flags = HBL_WQE_SIGNALED, .length = 64};
  wqe->local_addr = from;
  wqe->remote_addr = (uintptr_t)target_memory;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  *(volatile uint64_t *)((char *)fifo->regs_cpu_addr + fifo->regs_offset) = hbl_doorbell(1, queue.qp_num, 1);
}

static void post(struct ibv_qp *qp, uint64_t from) {
  struct ibv_sge sge = {from, 64, region->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr *bad;
  wr.wr.rdma.remote_addr = (uintptr_t)target_memory;
  wr.wr.rdma.rkey = target->rkey;
  EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
}

static sigset_t change_mask(int how, int all) {
  sigset_t set, old;
  if (all) sigfillset(&set);
  if (!all) sigemptyset(&set);
  EXPECT(pthread_sigmask(how, &set, &old) == 0);
  return old;
}

static int same_mask(const sigset_t *a, const sigset_t *b) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(a, signal) != sigismember(b, signal)) return 0;
  }
  return 1;
}

static void vanish(int by_doorbell) {
  const uint64_t from = (uintptr_t)region->addr;
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
  init.cap.max_send_wr = init.cap.max_recv_wr = init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  struct ibv_qp *qp = ibv_create_qp(pd, &init), *peer = ibv_create_qp(pd, &init);
  EXPECT(qp && peer);
  connect_to(qp, peer);
  connect_to(peer, qp);
  munmap(region->addr, SIZE); /* only now: other memory could be mapped there */
  struct ibv_wc wc = {0};
  if (by_doorbell) {
    ring(qp, from);
    while (ibv_poll_cq(cq, 1, &wc) == 0) sched_yield();
  } else {
    const sigset_t old = change_mask(SIG_SETMASK, 1);
    const sigset_t before = change_mask(SIG_BLOCK, 0);
    post(qp, from);
    while (ibv_poll_cq(cq, 1, &wc) == 0) sched_yield();
    const sigset_t after = change_mask(SIG_BLOCK, 0);
    EXPECT(same_mask(&before, &after));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
  }
  if (wc.status != IBV_WC_LOC_PROT_ERR) printf("%s\n", ibv_wc_status_str(wc.status));
  EXPECT(wc.status == IBV_WC_LOC_PROT_ERR);
  EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_qp(peer) == 0);
}

static volatile sig_atomic_t own_fault, calls;
static struct sigaction found;

static void say(void) {
  const char text[2] = {(char)('0' + ++calls), '\n'};
  if (own_fault && write(STDOUT_FILENO, text, sizeof text) < 0) _exit(2);
}

static void chain(int signal, siginfo_t *info, void *machine) {
  say();
  if (own_fault && calls > 5) _exit(3);
  if (found.sa_flags & SA_SIGINFO) {
    found.sa_sigaction(signal, info, machine);
  } else {
    sigaction(signal, &found, NULL);
  }
}

static void end(int signal, siginfo_t *info, void *machine) {
  (void)signal, (void)info, (void)machine;
  say();
  _exit(7);
}

static void install(void (*handler)(int, siginfo_t *, void *), struct sigaction *old) {
  struct sigaction action = {0};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  EXPECT(sigaction(SIGSEGV, &action, old) == 0);
}

static void perform(char letter) {
  if (letter == 'r') {
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    region = ibv_reg_mr(pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(region);
  } else if (letter == 'f') {
    struct hbldv_usr_fifo_attr attr = {.port_num = 1, .usr_fifo_type = HBLDV_USR_FIFO_TYPE_DB};
    fifo = hbldv_create_usr_fifo(context, &attr);
    EXPECT(fifo);
  } else if (letter == 'v' || letter == 'b') {
    vanish(letter == 'v');
  } else if (letter == 'c') {
    install(chain, &found);
  } else if (letter == 'n') {
    install(end, NULL);
  } else {
    calls = 0;
    own_fault = 1;
    volatile char *volatile nowhere = (volatile char *)16;
    *nowhere = 1;
  }
}

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  struct ibv_device **list = ibv_get_device_list(NULL);
  EXPECT(list && list[0]);
  context = hbldv_open_device(list[0], NULL);
  EXPECT(context);
  pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  target = ibv_reg_mr(pd, target_memory, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  EXPECT(pd && cq && target);
  const sigset_t before = change_mask(SIG_BLOCK, 0);
  for (const char *letter = argv[1]; *letter; ++letter) {
    perform(*letter);
    const sigset_t now = change_mask(SIG_BLOCK, 0);
    EXPECT(same_mask(&before, &now));
  }
  puts("done");
  return 0;
}
