#include "queue_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail.h"

enum { kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
enum { kReads = 16 };  // on their way

static void check(int error, const char* what) {
  if (error != 0) fail_with(error, what);
}

static void* need(void* object, const char* what) {
  if (!object) fail_with(errno, what);
  return object;
}

static void open_device(struct queue_pair* pair, int device) {
  int count = 0;
  struct ibv_device** devices = need(ibv_get_device_list(&count), "ibv_get_device_list");
  if (count <= device) fail("there are only %d RDMA devices", count);
  pair->context = need(ibv_open_device(devices[device]), "ibv_open_device");
  ibv_free_device_list(devices);
}

static void connect_to(struct queue_pair* pair, const struct address* theirs, enum ibv_mtu mtu) {
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = kAccess};
  check(ibv_modify_qp(pair->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "ibv_modify_qp to INIT");
  struct ibv_qp_attr rtr = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = mtu,
      .dest_qp_num = theirs->qp_num,
      .max_dest_rd_atomic = kReads,
      .min_rnr_timer = 12,
      .ah_attr = {.is_global = 1, .grh = {.dgid = theirs->gid, .hop_limit = 64}, .port_num = 1},
  };
  check(ibv_modify_qp(pair->qp, &rtr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "ibv_modify_qp to RTR");
  struct ibv_qp_attr rts = {
      .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = kReads};
  check(ibv_modify_qp(pair->qp, &rts,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC),
        "ibv_modify_qp to RTS");
}

static void create_queue_pair(struct queue_pair* pair, uint32_t depth) {
  struct ibv_qp_init_attr attr = {
      .send_cq = pair->cq,
      .recv_cq = pair->cq,
      .cap = {.max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC,
  };
  pair->qp = need(ibv_create_qp(pair->pd, &attr), "ibv_create_qp");
}

static void make_buffer(struct queue_pair* pair, size_t bytes) {
  pair->buffer = need(aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), "-s and -w");
  memset(pair->buffer, 0, bytes);
  pair->mr = need(ibv_reg_mr(pair->pd, pair->buffer, bytes, kAccess), "ibv_reg_mr");
}

// Of a memory file, which the software NIC takes in place of a dma-buf. Other devices take the memory itself.
static void make_shared_buffer(struct queue_pair* pair, size_t bytes) {
  const int fd = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) fail_with(errno, "memfd_create");
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 ? 0 : errno, "F_ADD_SEALS");
  pair->buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (pair->buffer == MAP_FAILED) fail_with(errno, "mmap");
  memset(pair->buffer, 0, bytes);
  pair->mapped = bytes;
  pair->mr = ibv_reg_dmabuf_mr(pair->pd, 0, bytes, (uintptr_t)pair->buffer, fd, kAccess);
  if (!pair->mr) pair->mr = need(ibv_reg_mr(pair->pd, pair->buffer, bytes, kAccess), "ibv_reg_mr");
  // Nobody can make holes in it any more, so that the NIC need not look out for faults.
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0 ? 0 : errno, "F_ADD_SEALS");
  close(fd);
}

void queue_pair_open(struct queue_pair* pair, int device, size_t bytes, uint32_t depth) {
  open_device(pair, device);
  pair->pd = need(ibv_alloc_pd(pair->context), "ibv_alloc_pd");
  if (pair->shared) {
    make_shared_buffer(pair, bytes);
  } else {
    make_buffer(pair, bytes);
  }
  pair->cq = need(ibv_create_cq(pair->context, (int)(2 * depth), NULL, NULL, 0), "ibv_create_cq");
  create_queue_pair(pair, depth);
}

void queue_pair_add(struct queue_pair* pair) { create_queue_pair(pair, 1); }

struct address queue_pair_address(const struct queue_pair* pair) {
  struct address mine = {.qp_num = pair->qp->qp_num, .rkey = pair->mr->rkey, .buffer = (uintptr_t)pair->buffer};
  if (ibv_query_gid(pair->context, 1, 0, &mine.gid) != 0) fail_with(errno, "ibv_query_gid");
  return mine;
}

void queue_pair_join(struct queue_pair* pair, const struct address* theirs) {
  struct ibv_port_attr port;
  check(ibv_query_port(pair->context, 1, &port), "ibv_query_port");
  connect_to(pair, theirs, port.active_mtu);
  pair->remote_address = theirs->buffer;
  pair->remote_key = theirs->rkey;
}

void queue_pair_open_both(struct queue_pair* left, struct queue_pair* right, size_t bytes, uint32_t depth) {
  queue_pair_open(left, 0, bytes, depth);
  queue_pair_open(right, 1, bytes, depth);
  const struct address ends[2] = {queue_pair_address(left), queue_pair_address(right)};
  queue_pair_join(left, &ends[1]);
  queue_pair_join(right, &ends[0]);
}

void queue_pair_connect(struct queue_pair* pair, const struct peer* peer, size_t bytes, uint32_t depth) {
  queue_pair_open(pair, 0, bytes, depth);
  const struct address mine = queue_pair_address(pair);
  struct address theirs;
  peer_swap(peer, &mine, &theirs, sizeof mine);
  queue_pair_join(pair, &theirs);
}

void queue_pair_receive(struct queue_pair* pair, size_t offset, uint32_t size) {
  struct ibv_sge piece = {.addr = (uintptr_t)pair->buffer + offset, .length = size, .lkey = pair->mr->lkey};
  struct ibv_recv_wr work = {.sg_list = &piece, .num_sge = 1};
  queue_pair_receive_list(pair, &work);
}

void queue_pair_receive_list(struct queue_pair* pair, struct ibv_recv_wr* first) {
  struct ibv_recv_wr* bad;
  check(ibv_post_recv(pair->qp, first, &bad), "ibv_post_recv");
}

void queue_pair_post(struct queue_pair* pair, size_t offset, uint32_t size, struct ibv_send_wr* work) {
  struct ibv_sge piece = {.addr = (uintptr_t)pair->buffer + offset, .length = size, .lkey = pair->mr->lkey};
  work->sg_list = &piece;
  work->num_sge = 1;
  queue_pair_post_list(pair, work);
}

void queue_pair_post_list(struct queue_pair* pair, struct ibv_send_wr* first) {
  struct ibv_send_wr* bad;
  check(ibv_post_send(pair->qp, first, &bad), "ibv_post_send");
}

int queue_pair_poll(struct queue_pair* pair, struct ibv_wc* completions, int max) {
  const int found = ibv_poll_cq(pair->cq, max, completions);
  if (found < 0) fail("ibv_poll_cq failed");
  for (int i = 0; i < found; ++i) {
    if (completions[i].status != IBV_WC_SUCCESS) {
      fail("a completion says: %s", ibv_wc_status_str(completions[i].status));
    }
  }
  return found;
}

void queue_pair_close(struct queue_pair* pair) {
  check(ibv_destroy_qp(pair->qp), "ibv_destroy_qp");
  check(ibv_destroy_cq(pair->cq), "ibv_destroy_cq");
  check(ibv_dereg_mr(pair->mr), "ibv_dereg_mr");
  check(ibv_dealloc_pd(pair->pd), "ibv_dealloc_pd");
  if (ibv_close_device(pair->context) != 0) fail_with(errno, "ibv_close_device");
  if (pair->shared) {
    munmap(pair->buffer, pair->mapped);
  } else {
    free(pair->buffer);
  }
}
