// README.md says what it does.
#include <arpa/inet.h>
#include <err.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 1024, kMost = 64, kSlots = 3 };  // of each peer: two to receive into, one to send from

static int self, count, gid_index, rounds;
static struct ibv_qp *qps[kMost];
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static unsigned char memory[kMost][kSlots][kSize];
static union ibv_gid gid;

static unsigned char pattern(int from, int to, int round, int i) {
  return (unsigned char)(31 * from + 17 * to + 7 * round + i);
}

static struct ibv_sge slot(int peer, int which) {
  return (struct ibv_sge){.addr = (uintptr_t)memory[peer][which], .length = kSize, .lkey = mr->lkey};
}

static void receive(int peer, int which) {
  struct ibv_sge sge = slot(peer, which);
  struct ibv_recv_wr wr = {.wr_id = (uint64_t)peer, .sg_list = &sge, .num_sge = 1}, *bad;
  if (ibv_post_recv(qps[peer], &wr, &bad) != 0) errx(1, "ibv_post_recv");
}

static void send_to(int peer, int round) {
  for (int i = 0; i < kSize; ++i) memory[peer][2][i] = pattern(self, peer, round, i);
  struct ibv_sge sge = slot(peer, 2);
  struct ibv_send_wr wr = {
      .wr_id = kMost, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr *bad;
  if (ibv_post_send(qps[peer], &wr, &bad) != 0) errx(1, "ibv_post_send");
}

static void open_all(void) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
  if (!context) errx(1, "no device");
  struct ibv_pd *pd = ibv_alloc_pd(context);
  mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
  cq = ibv_create_cq(context, 4 * kMost, NULL, NULL, 0);
  if (!mr || !cq || ibv_query_gid(context, 1, gid_index, &gid) != 0) errx(1, "ibv_query_gid");
  char text[INET6_ADDRSTRLEN];
  printf("ready %s", inet_ntop(AF_INET6, gid.raw, text, sizeof text));
  for (int peer = 0; peer < count; ++peer) {
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
    qps[peer] = peer == self ? NULL : ibv_create_qp(pd, &init);
    printf(" %u", qps[peer] ? qps[peer]->qp_num : 0);
  }
  printf("\n");
}

static void connect_to(int peer, unsigned number) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  if (ibv_modify_qp(qps[peer], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0) {
    errx(1, "INIT");
  }
  receive(peer, 0);
  receive(peer, 1);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = number;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 12;
  attr.ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1};
  attr.ah_attr.grh = (struct ibv_global_route){.dgid = gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64};
  if (ibv_modify_qp(qps[peer], &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0) {
    errx(1, "RTR");
  }
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  attr.max_rd_atomic = 1;
  if (ibv_modify_qp(qps[peer], &attr,
                    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC) != 0) {
    errx(1, "RTS");
  }
}

int main(int argc, char **argv) {
  if (argc != 5) errx(2, "peer NUMBER COUNT INDEX ROUNDS");
  self = atoi(argv[1]), count = atoi(argv[2]), gid_index = atoi(argv[3]), rounds = atoi(argv[4]);
  setvbuf(stdout, NULL, _IOLBF, 0);
  open_all();
  char word[16];
  if (scanf("%15s", word) != 1) errx(1, "no peers");
  for (int peer = 0; peer < count; ++peer) {
    unsigned number;
    if (scanf("%u", &number) != 1) errx(1, "no peer %d", peer);
    if (peer != self) connect_to(peer, number);
  }
  printf("connected\n");
  if (scanf("%15s", word) != 1) errx(1, "no go");
  int came[kMost] = {0}, messages = 0;
  for (int round = 0; round < rounds; ++round) {
    int awaited = 0;  // completions: of what it sends, and of the messages of this round that have not come before
    for (int peer = 0; peer < count; ++peer) {
      if (peer == self) continue;
      send_to(peer, round);
      awaited += came[peer] == round ? 2 : 1;
    }
    while (awaited > 0) {
      struct ibv_wc wc;
      if (ibv_poll_cq(cq, 1, &wc) == 0) {
        sched_yield();
        continue;
      }
      if (wc.status != IBV_WC_SUCCESS) errx(1, "%s", ibv_wc_status_str(wc.status));
      if (wc.wr_id == kMost) {
        --awaited;
        continue;
      }
      const int peer = (int)wc.wr_id, from_round = came[peer]++;
      if (from_round == round) --awaited;
      for (int i = 0; i < kSize; ++i) {
        if (memory[peer][from_round % 2][i] != pattern(peer, self, from_round, i))
          errx(1, "a byte of %d is wrong", peer);
      }
      receive(peer, from_round % 2);
      ++messages;
    }
  }
  printf("done %d\n", messages);
  while (getchar() != EOF) continue;
  return 0;
}
