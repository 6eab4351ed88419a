#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"

static const struct plan kDefault = {0};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct ibv_context *open_device(void) {
  int count = 0;
  struct ibv_device **list = ibv_get_device_list(&count);
  struct ibv_context *context = NULL;
  for (int i = 0; i < count && context == NULL; ++i) {
    if (options.device != NULL && strcmp(ibv_get_device_name(list[i]), options.device) != 0) continue;
    context = ibv_open_device(list[i]);
  }
  if (list != NULL) ibv_free_device_list(list);
  if (context == NULL) fail_case(__FILE__, __LINE__, "there is no such device, or it cannot be opened");
  return context;
}

// The first GID for RoCE v2 packets of IPv4, else of IPv6, else the first.
static int choose_gid(struct ibv_context *context, int length) {
  if (options.gid >= 0) return options.gid;
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  int found = 0, best = 0;
  for (int i = 0; i < length; ++i) {
    struct ibv_gid_entry entry;
    if (ibv_query_gid_ex(context, 1, (uint32_t)i, &entry, 0) != 0) continue;
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    const int worth = memcmp(entry.gid.raw, mapped, sizeof mapped) == 0 ? 2 : 1;
    if (worth <= best) continue;
    best = worth;
    found = i;
  }
  return found;
}

struct bench *bench_open(const struct plan *plan) {
  if (plan == NULL) plan = &kDefault;
  struct bench *bench = calloc(1, sizeof *bench);
  bench->context = open_device();
  EQUAL(ibv_query_device(bench->context, &bench->device), 0);
  EQUAL(ibv_query_port(bench->context, 1, &bench->port), 0);
  bench->gid_index = choose_gid(bench->context, bench->port.gid_tbl_len);
  EQUAL(ibv_query_gid(bench->context, 1, bench->gid_index, &bench->gid), 0);
  bench->pd = ibv_alloc_pd(bench->context);
  CHECK(bench->pd != NULL);
  if (plan->events) {
    bench->channel = ibv_create_comp_channel(bench->context);
    CHECK(bench->channel != NULL);
  }
  bench->cq = ibv_create_cq(bench->context, 4 * kDepth, NULL, bench->channel, 0);
  CHECK(bench->cq != NULL);
  bench->memory = aligned_alloc(4096, kRegion);
  for (size_t i = 0; i < kRegion; ++i) bench->memory[i] = (uint8_t)(i * 7 + i / 251);
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (bench->device.atomic_cap != IBV_ATOMIC_NONE) access |= IBV_ACCESS_REMOTE_ATOMIC;
  bench->mr = ibv_reg_mr(bench->pd, bench->memory, kRegion, access);
  CHECK(bench->mr != NULL);
  return bench;
}

struct ibv_qp *make_qp(struct bench *bench, const struct plan *plan) {
  if (plan == NULL) plan = &kDefault;
  struct ibv_qp_init_attr init = {0};
  init.send_cq = init.recv_cq = bench->cq;
  init.srq = plan->srq;
  init.qp_type = plan->type != 0 ? plan->type : IBV_QPT_RC;
  init.sq_sig_all = plan->sq_sig_all;
  init.cap.max_send_wr = init.cap.max_recv_wr = plan->depth != 0 ? plan->depth : kDepth;
  init.cap.max_send_sge = init.cap.max_recv_sge = plan->sges != 0 ? plan->sges : 4;
  init.cap.max_inline_data = plan->inline_data;
  struct ibv_qp *qp = ibv_create_qp(bench->pd, &init);
  if (qp == NULL && (errno == EOPNOTSUPP || errno == ENOSYS)) skip_case("the device has no queue pairs of this type");
  CHECK(qp != NULL);
  return qp;
}

static int access_of(const struct plan *plan) {
  if (plan->access < 0) return 0;
  if (plan->access > 0) return plan->access;
  return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

int to_init(struct ibv_qp *qp, const struct plan *plan) {
  if (plan == NULL) plan = &kDefault;
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = kQkey};
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (qp->qp_type == IBV_QPT_UD) return ibv_modify_qp(qp, &attr, mask | IBV_QP_QKEY);
  attr.qp_access_flags = (unsigned)access_of(plan);
  if (qp->qp_type == IBV_QPT_UC) attr.qp_access_flags &= IBV_ACCESS_REMOTE_WRITE;
  return ibv_modify_qp(qp, &attr, mask | IBV_QP_ACCESS_FLAGS);
}

struct ibv_ah_attr address_of(const struct bench *bench) {
  struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
  attr.grh.dgid = bench->gid;
  attr.grh.sgid_index = (uint8_t)bench->gid_index;
  attr.grh.hop_limit = 64;
  return attr;
}

int to_rtr(struct bench *bench, struct ibv_qp *qp, const struct plan *plan, uint32_t peer) {
  if (plan == NULL) plan = &kDefault;
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
  if (qp->qp_type == IBV_QPT_UD) return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
  attr.path_mtu = plan->mtu != 0 ? plan->mtu : IBV_MTU_1024;
  if (attr.path_mtu > bench->port.active_mtu) skip_case("the port's MTU is smaller");
  attr.dest_qp_num = peer;
  attr.rq_psn = 0xfffffe;  // so that every case crosses the wrap
  attr.ah_attr = address_of(bench);
  int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (qp->qp_type == IBV_QPT_UC) return ibv_modify_qp(qp, &attr, mask);
  attr.max_dest_rd_atomic = 4;
  attr.min_rnr_timer = plan->min_rnr_timer != 0 ? plan->min_rnr_timer : 1;
  return ibv_modify_qp(qp, &attr, mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int to_rts(struct ibv_qp *qp, const struct plan *plan) {
  if (plan == NULL) plan = &kDefault;
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .sq_psn = 0xfffffe};
  if (qp->qp_type != IBV_QPT_RC) return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
  attr.timeout = plan->timeout != 0 ? plan->timeout : 14;
  attr.retry_cnt = plan->retry_cnt != 0 ? plan->retry_cnt : 7;
  attr.rnr_retry = plan->rnr_retry < 0 ? 0 : plan->rnr_retry > 0 ? (uint8_t)plan->rnr_retry : 7;
  attr.max_rd_atomic = 4;
  return ibv_modify_qp(
      qp, &attr,
      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int set_state(struct ibv_qp *qp, enum ibv_qp_state state) {
  struct ibv_qp_attr attr = {.qp_state = state};
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

struct ibv_qp_attr query(struct ibv_qp *qp) {
  struct ibv_qp_attr attr;
  struct ibv_qp_init_attr init;
  const int all = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                  IBV_QP_RQ_PSN | IBV_QP_SQ_PSN | IBV_QP_MIN_RNR_TIMER | IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS |
                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_CAP | IBV_QP_PORT;
  EQUAL(ibv_query_qp(qp, &attr, all, &init), 0);
  return attr;
}

enum ibv_qp_state state_of(struct ibv_qp *qp) { return query(qp).qp_state; }

void connect_pair(struct bench *bench, const struct plan *plan) {
  bench->a = make_qp(bench, plan);
  bench->b = make_qp(bench, plan);
  struct ibv_qp *pair[] = {bench->a, bench->b};
  for (int i = 0; i < 2; ++i) {
    EQUAL(to_init(pair[i], plan), 0);
    EQUAL(to_rtr(bench, pair[i], plan, pair[1 - i]->qp_num), 0);
  }
  for (int i = 0; i < 2; ++i) EQUAL(to_rts(pair[i], plan), 0);
}

struct bench *connected(const struct plan *plan) {
  struct bench *bench = bench_open(plan);
  connect_pair(bench, plan);
  return bench;
}

uint8_t *far_at(const struct bench *bench, size_t offset) { return bench->memory + kRegion / 2 + offset; }

uint64_t address(const void *at) { return (uintptr_t)at; }

struct ibv_sge piece(const struct bench *bench, size_t offset, uint32_t length) {
  return (struct ibv_sge){address(bench->memory + offset), length, bench->mr->lkey};
}

struct ibv_send_wr request(const struct bench *bench, struct ibv_sge *sge, enum ibv_wr_opcode opcode, uint32_t length) {
  *sge = piece(bench, 0, length);
  struct ibv_send_wr wr = {.wr_id = 1, .sg_list = sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
  if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = address(far_at(bench, 0));
    wr.wr.atomic.rkey = bench->mr->rkey;
  } else {
    wr.wr.rdma.remote_addr = address(far_at(bench, 0));
    wr.wr.rdma.rkey = bench->mr->rkey;
  }
  return wr;
}

int post(struct ibv_qp *qp, struct ibv_send_wr *wr) {
  struct ibv_send_wr *bad = NULL;
  return ibv_post_send(qp, wr, &bad);
}

int post_receive(struct bench *bench, struct ibv_qp *qp, uint32_t length) {
  struct ibv_sge sge = piece(bench, kRegion / 2, length);
  struct ibv_recv_wr wr = {.wr_id = 100, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
  return ibv_post_recv(qp, &wr, &bad);
}

void transfer(struct bench *bench, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t length) {
  struct ibv_sge sge;
  struct ibv_send_wr wr = request(bench, &sge, opcode, length);
  EQUAL(post(qp, &wr), 0);
}

static struct ibv_wc kept[8 * kDepth];
static size_t kept_count;

static bool wait_for_completion(struct bench *bench, struct ibv_wc *wc, double seconds) {
  const double give_up = now() + seconds;
  do {
    const int count = ibv_poll_cq(bench->cq, 1, wc);
    CHECK(count >= 0);
    if (count == 1) return true;
  } while (now() < give_up);
  return false;
}

struct ibv_wc completion_of(struct bench *bench, struct ibv_qp *qp) {
  for (size_t i = 0; i < kept_count; ++i) {
    if (qp != NULL && kept[i].qp_num != qp->qp_num) continue;
    const struct ibv_wc found = kept[i];
    memmove(&kept[i], &kept[i + 1], (--kept_count - i) * sizeof kept[0]);
    return found;
  }
  for (;;) {
    struct ibv_wc wc;
    if (!wait_for_completion(bench, &wc, 5)) fail_case(__FILE__, __LINE__, "no completion within five seconds");
    if (qp == NULL || wc.qp_num == qp->qp_num) return wc;
    CHECK(kept_count < sizeof kept / sizeof kept[0] - 1);
    kept[kept_count++] = wc;
  }
}

struct ibv_wc completion(struct bench *bench) { return completion_of(bench, NULL); }

bool silent(struct bench *bench) {
  struct ibv_wc wc;
  return kept_count == 0 && !wait_for_completion(bench, &wc, 0.05);
}

bool saw_event(struct bench *bench, enum ibv_event_type type) {
  const double give_up = now() + 5;
  while (now() < give_up) {
    struct ibv_wc wc;  // progress, for devices that make it in calls
    if (kept_count < sizeof kept / sizeof kept[0] && ibv_poll_cq(bench->cq, 1, &wc) == 1) kept[kept_count++] = wc;
    struct pollfd entry = {bench->context->async_fd, POLLIN, 0};
    if (poll(&entry, 1, 10) <= 0) continue;
    struct ibv_async_event event;
    EQUAL(ibv_get_async_event(bench->context, &event), 0);
    ibv_ack_async_event(&event);
    if (event.event_type == type) return true;
  }
  return false;
}

bool same_bytes(const struct bench *bench, size_t from, size_t to, size_t length) {
  return memcmp(bench->memory + from, bench->memory + to, length) == 0;
}
