// Programs with one mistake each, by its name: wrong MISTAKE. The status is 3 if the mistake had its effect.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct end {
  struct ibv_qp *qp;
  struct ibv_mr *mr;
  char memory[4096];
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct end alice, bob;
// What the tests of a mistake change before connect_both().
static int access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
static int region_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
static enum ibv_mtu mtu = IBV_MTU_1024;
static const union ibv_gid *destination;  // of datagrams, in the place of the device's own
static const union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}};

static void check(int failed, const char *what) {
  if (!failed) return;
  perror(what);
  exit(1);
}

static void open_end(struct end *end, enum ibv_qp_type type) {
  struct ibv_qp_init_attr init = {
      .send_cq = cq,
      .recv_cq = cq,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 32},
      .qp_type = type,
      .sq_sig_all = 1};
  end->qp = ibv_create_qp(pd, &init);
  check(!end->qp, "ibv_create_qp");
  end->mr = ibv_reg_mr(pd, end->memory, 1024, region_flags);
  check(!end->mr, "ibv_reg_mr");
}

static struct ibv_qp_attr attr_for(const struct end *peer) {
  struct ibv_qp_attr attr = {.port_num = 1,
                             .qp_access_flags = access_flags,
                             .path_mtu = mtu,
                             .dest_qp_num = peer->qp->qp_num,
                             .rq_psn = 7,
                             .sq_psn = 7,
                             .max_rd_atomic = 1,
                             .max_dest_rd_atomic = 1,
                             .min_rnr_timer = 1,
                             .timeout = 8,
                             .retry_cnt = 2,
                             .rnr_retry = 1,
                             .qkey = 0x1111,
                             .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 1}}};
  check(ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid), "ibv_query_gid");
  return attr;
}

static const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

static void init_end(struct end *end, struct ibv_qp_attr *attr) {
  attr->qp_state = IBV_QPS_INIT;
  check(ibv_modify_qp(end->qp, attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
}

static void ready_end(struct end *end, struct ibv_qp_attr *attr) {
  attr->qp_state = IBV_QPS_RTR;
  check(ibv_modify_qp(end->qp, attr, rtr), "RTR");
  attr->qp_state = IBV_QPS_RTS;
  check(ibv_modify_qp(end->qp, attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC),
        "RTS");
}

static void open_both(enum ibv_qp_type type) {
  open_end(&alice, type);
  open_end(&bob, type);
}

static void connect_both(void) {
  open_both(IBV_QPT_RC);
  struct ibv_qp_attr a = attr_for(&bob), b = attr_for(&alice);
  init_end(&alice, &a);
  init_end(&bob, &b);
  ready_end(&alice, &a);
  ready_end(&bob, &b);
}

static void datagrams_both(void) {
  open_both(IBV_QPT_UD);
  struct end *ends[] = {&alice, &bob};
  for (int i = 0; i < 2; ++i) {
    struct ibv_qp_attr attr = attr_for(ends[1 - i]);
    attr.qp_state = IBV_QPS_INIT;
    check(ibv_modify_qp(ends[i]->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "INIT");
    attr.qp_state = IBV_QPS_RTR;
    check(ibv_modify_qp(ends[i]->qp, &attr, IBV_QP_STATE), "RTR");
    attr.qp_state = IBV_QPS_RTS;
    check(ibv_modify_qp(ends[i]->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
  }
}

static int receive(struct end *end, uint32_t length) {
  struct ibv_sge sge = {(uintptr_t)end->memory, length, end->mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = 9, .sg_list = &sge, .num_sge = 1}, *bad;
  return ibv_post_recv(end->qp, &wr, &bad);
}

// From alice to bob.
static struct ibv_send_wr request(struct ibv_sge *sge, enum ibv_wr_opcode opcode, uint32_t length) {
  *sge = (struct ibv_sge){(uintptr_t)alice.memory, length, alice.mr->lkey};
  struct ibv_send_wr wr = {.wr_id = 5, .sg_list = sge, .num_sge = 1, .opcode = opcode};
  wr.wr.rdma.remote_addr = (uintptr_t)bob.memory;
  wr.wr.rdma.rkey = bob.mr->rkey;
  return wr;
}

static int post(struct ibv_send_wr *wr) {
  struct ibv_send_wr *bad;
  return ibv_post_send(alice.qp, wr, &bad);
}

static int send_of(enum ibv_wr_opcode opcode, uint32_t length) {
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(&sge, opcode, length);
  return post(&wr);
}

static int datagram(uint32_t length, uint32_t qpn, uint32_t qkey) {
  struct ibv_qp_attr attr = attr_for(&bob);
  if (destination) attr.ah_attr.grh.dgid = *destination;
  struct ibv_ah *ah = ibv_create_ah(pd, &attr.ah_attr);
  check(!ah, "ibv_create_ah");
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, length);
  wr.wr.ud.ah = ah;
  wr.wr.ud.remote_qpn = qpn;
  wr.wr.ud.remote_qkey = qkey;
  return post(&wr);
}

// Waits for a failed completion.
static int fails(void) {
  struct ibv_wc wc;
  for (int i = 0; i < 3000; ++i) {
    while (ibv_poll_cq(cq, 1, &wc) > 0) {
      if (wc.status != IBV_WC_SUCCESS) return 3;
    }
    usleep(1000);
  }
  return 1;
}

// Sent, and nothing comes.
static int vanishes(void) {
  struct ibv_wc wc;
  for (int i = 0; i < 50; ++i) {
    while (ibv_poll_cq(cq, 1, &wc) > 0) {
      if (wc.opcode & IBV_WC_RECV) return 1;
    }
    usleep(1000);
  }
  return 3;
}

static int refused(int error) { return error != 0 ? 3 : 1; }

static int rtr_with(int mask, void (*change)(struct ibv_qp_attr *)) {
  open_both(IBV_QPT_RC);
  struct ibv_qp_attr attr = attr_for(&bob);
  init_end(&alice, &attr);
  if (change) change(&attr);
  attr.qp_state = IBV_QPS_RTR;
  return refused(ibv_modify_qp(alice.qp, &attr, mask));
}
static void no_grh(struct ibv_qp_attr *attr) { attr->ah_attr.is_global = 0; }
static void large_mtu(struct ibv_qp_attr *attr) { attr->path_mtu = IBV_MTU_4096; }
static void wrong_port(struct ibv_qp_attr *attr) { attr->ah_attr.port_num = 2; }

static int run(const char *mistake) {
  const struct ibv_qp_attr nothing = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  struct ibv_qp_attr attr = nothing;
  const char *m = mistake;
  if (!strcmp(m, "no-port")) {
    open_both(IBV_QPT_RC);
    return refused(ibv_modify_qp(alice.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
  }
  if (!strcmp(m, "no-address")) return rtr_with(rtr & ~IBV_QP_AV, NULL);
  if (!strcmp(m, "no-grh")) return rtr_with(rtr, no_grh);
  if (!strcmp(m, "wrong-port")) return rtr_with(rtr, wrong_port);
  if (!strcmp(m, "large-mtu")) return rtr_with(rtr, large_mtu);
  if (!strcmp(m, "superfluous")) return rtr_with(rtr | IBV_QP_TIMEOUT, NULL);
  if (!strcmp(m, "reset-to-rtr")) {
    open_both(IBV_QPT_RC);
    attr = attr_for(&bob);
    attr.qp_state = IBV_QPS_RTR;
    return refused(ibv_modify_qp(alice.qp, &attr, rtr));
  }
  if (!strcmp(m, "second-connect")) {
    connect_both();
    attr = attr_for(&bob);
    attr.qp_state = IBV_QPS_RTR;
    return refused(ibv_modify_qp(alice.qp, &attr, rtr));
  }
  if (!strcmp(m, "queue-pair-access")) {
    access_flags = IBV_ACCESS_LOCAL_WRITE;
    connect_both();
    check(send_of(IBV_WR_RDMA_WRITE, 64), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "region-access")) {
    region_flags = IBV_ACCESS_LOCAL_WRITE;
    connect_both();
    check(send_of(IBV_WR_RDMA_WRITE, 64), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "short-region")) {
    connect_both();
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(&sge, IBV_WR_RDMA_WRITE, 64);
    wr.wr.rdma.remote_addr += 1024 - 52;
    check(post(&wr), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "wrong-lkey")) {
    connect_both();
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(&sge, IBV_WR_RDMA_WRITE, 64);
    sge.lkey ^= 0xff;
    check(post(&wr), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "other-mtus")) {
    open_both(IBV_QPT_RC);
    struct ibv_qp_attr a = attr_for(&bob), b = attr_for(&alice);
    a.path_mtu = IBV_MTU_512;
    init_end(&alice, &a);
    init_end(&bob, &b);
    ready_end(&alice, &a);
    ready_end(&bob, &b);
    check(send_of(IBV_WR_RDMA_WRITE, 1024), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "short-receive")) {
    connect_both();
    check(receive(&bob, 16), "ibv_post_recv");
    check(send_of(IBV_WR_SEND, 64), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "no-receive")) {
    connect_both();
    check(send_of(IBV_WR_SEND, 64), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "nobody")) {
    open_both(IBV_QPT_RC);
    attr = attr_for(&bob);
    attr.dest_qp_num = 0xabcdef;
    init_end(&alice, &attr);
    ready_end(&alice, &attr);
    check(send_of(IBV_WR_SEND, 64), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "wrong-qkey")) {
    datagrams_both();
    check(receive(&bob, 104), "ibv_post_recv");
    check(datagram(64, bob.qp->qp_num, 0x2222), "ibv_post_send");
    return vanishes();
  }
  if (!strcmp(m, "no-room")) {
    datagrams_both();
    check(receive(&bob, 64), "ibv_post_recv");
    check(datagram(64, bob.qp->qp_num, 0x1111), "ibv_post_send");
    return fails();
  }
  if (!strcmp(m, "no-datagram-receive")) {
    datagrams_both();
    check(datagram(64, bob.qp->qp_num, 0x1111), "ibv_post_send");
    return vanishes();
  }
  if (!strcmp(m, "unknown-queue-pair")) {
    datagrams_both();
    check(datagram(64, 0xabcdef, 0x1111), "ibv_post_send");
    return vanishes();
  }
  if (!strcmp(m, "group-by-number")) {
    datagrams_both();
    check(ibv_attach_mcast(bob.qp, &group, 0), "ibv_attach_mcast");
    check(receive(&bob, 104), "ibv_post_recv");
    destination = &group;
    check(datagram(64, bob.qp->qp_num, 0x1111), "ibv_post_send");
    return vanishes();
  }
  if (!strcmp(m, "post-in-reset")) {
    open_both(IBV_QPT_RC);
    return refused(send_of(IBV_WR_SEND, 64));
  }
  if (!strcmp(m, "many-elements")) {
    connect_both();
    struct ibv_sge sge[2];
    struct ibv_send_wr wr = request(sge, IBV_WR_SEND, 64);
    sge[1] = sge[0];
    wr.num_sge = 2;
    return refused(post(&wr));
  }
  if (!strcmp(m, "long-inline")) {
    connect_both();
    struct ibv_sge sge;
    struct ibv_send_wr wr = request(&sge, IBV_WR_SEND, 300);
    wr.send_flags = IBV_SEND_INLINE;
    return refused(post(&wr));
  }
  if (!strcmp(m, "read-on-datagram")) {
    datagrams_both();
    check(send_of(IBV_WR_RDMA_READ, 64), "ibv_post_send");
    return fails();
  }
  // How programs end.
  if (!strcmp(m, "abort")) {
    open_both(IBV_QPT_RC);
    send_of(IBV_WR_SEND, 64);
    abort();
  }
  if (!strcmp(m, "often")) {
    open_both(IBV_QPT_RC);
    for (int i = 0; i < 1000; ++i) send_of(IBV_WR_SEND, 64);
    return 3;
  }
  fprintf(stderr, "there is no mistake %s\n", mistake);
  return 2;
}

static int open_and_run(const char *mistake) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  check(!devices || !devices[0], "ibv_get_device_list");
  context = ibv_open_device(devices[0]);
  check(!context, "ibv_open_device");
  pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  check(!pd || !cq, "ibv_create_cq");
  return run(mistake);
}

int main(int argc, char **argv) {
  if (argc == 2) return open_and_run(argv[1]);
  if (argc == 3 && !strcmp(argv[1], "stay")) {  // tells its process ID, and stays until its input ends
    open_and_run(argv[2]);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
  }
  // Several: each in a child.
  for (int i = 1; i < argc; ++i) {
    if (fork() == 0) _exit(open_and_run(argv[i]));
  }
  while (wait(NULL) > 0) continue;
  return 0;
}
