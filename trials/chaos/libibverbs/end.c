#define _GNU_SOURCE
#include "end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "faults.h"
#include "memory.h"

const char *end_open(struct end *end) {
  struct ibv_device **list = ibv_get_device_list(NULL);
  if (!list) return "ibv_get_device_list";
  for (struct ibv_device **device = list; *device && !end->context; device++) {
    if (strcmp(ibv_get_device_name(*device), end->device) == 0) end->context = ibv_open_device(*device);
  }
  ibv_free_device_list(list);
  if (!end->context) return "ibv_open_device";
  end->pd = ibv_alloc_pd(end->context);
  // Half of the programs install their handler of faults after the NIC's.
  if (end->seed & 1) faults_install();
  return end->pd ? NULL : "ibv_alloc_pd";
}

const char *end_make(struct end *end) {
  end->stopped = true;
  end->closed = false;
  end->random = end->seed + end->me + 1;
  end->pending = end->sent = end->received = 0;
  end->added = 0;
  end->tally = (struct tally){0};
  memset(end->requests, 0, sizeof end->requests);
  end->channel = ibv_create_comp_channel(end->context);
  if (!end->channel) return "ibv_create_comp_channel";
  if (fcntl(end->channel->fd, F_SETFL, O_NONBLOCK)) return "fcntl";
  end->cq = ibv_create_cq(end->context, 128, NULL, end->channel, 0);
  if (!end->cq) return "ibv_create_cq";
  struct ibv_qp_init_attr attr = {
      .qp_type = IBV_QPT_RC, .send_cq = end->cq, .recv_cq = end->cq, .cap = {16, 32, 1, 1, 0}};
  end->qp = ibv_create_qp(end->pd, &attr);
  if (!end->qp) return "ibv_create_qp";
  struct ibv_port_attr port;
  if (ibv_query_port(end->context, 1, &port)) return "ibv_query_port";
  end->mtu = port.active_mtu;
  return ibv_query_gid(end->context, 1, 0, &end->gid) ? "ibv_query_gid" : NULL;
}

// The same times as in Node.js: a dead peer is noticed after eight times 0.27 s.
static const char *connect_to(struct end *end, uint32_t qp_num, const union ibv_gid *gid) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  attr.qp_access_flags =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  if (ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
    return "ibv_modify_qp to INIT";
  const char *failed = end_receive_all(end);
  if (failed) return failed;
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = end->mtu, .dest_qp_num = qp_num};
  attr.max_dest_rd_atomic = 16;
  attr.min_rnr_timer = 12;
  attr.ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1, .grh = {.dgid = *gid, .hop_limit = 64}};
  if (ibv_modify_qp(end->qp, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    return "ibv_modify_qp to RTR";
  attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 16, .retry_cnt = 7, .rnr_retry = 7};
  attr.max_rd_atomic = 16;
  if (ibv_modify_qp(end->qp, &attr,
                    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC))
    return "ibv_modify_qp to RTS";
  return ibv_req_notify_cq(end->cq, 0) ? "ibv_req_notify_cq" : NULL;
}

const char *end_connect(struct end *end, uint32_t qp_num, const union ibv_gid *gid) {
  const char *failed = memory_make(&end->memory, end->pd, end->me);
  if (!failed) failed = connect_to(end, qp_num, gid);
  if (failed) return failed;
  errno = pthread_create(&end->thread, NULL, end_traffic, end);
  end->running = errno == 0;
  return end->running ? NULL : "pthread_create";
}

void end_start(struct end *end, const struct peer *peer, uint32_t limit) {
  pthread_mutex_lock(&end->lock);
  end->peer = *peer;
  end->limit = limit;
  end->stopped = false;
  pthread_mutex_unlock(&end->lock);
}

void end_stop(struct end *end) {
  const struct timespec moment = {.tv_nsec = 2000000};
  for (;;) {
    pthread_mutex_lock(&end->lock);
    end->stopped = true;
    const bool over = end->pending == 0;
    pthread_mutex_unlock(&end->lock);
    if (over) return;
    nanosleep(&moment, NULL);
  }
}

const char *end_disconnect(struct end *end) {
  if (end->running) {
    pthread_mutex_lock(&end->lock);
    end->closed = true;
    pthread_mutex_unlock(&end->lock);
    pthread_join(end->thread, NULL);
    end->running = false;
  }
  if (end->qp && ibv_destroy_qp(end->qp)) return "ibv_destroy_qp";
  end->qp = NULL;
  const char *failed = memory_free(&end->memory);
  if (end->cq && ibv_destroy_cq(end->cq)) return "ibv_destroy_cq";
  end->cq = NULL;
  if (end->channel && ibv_destroy_comp_channel(end->channel)) return "ibv_destroy_comp_channel";
  end->channel = NULL;
  return failed;
}

const char *end_close(struct end *end) {
  const char *failed = end_disconnect(end);
  if (failed) return failed;
  if (end->pd && ibv_dealloc_pd(end->pd)) return "ibv_dealloc_pd";
  end->pd = NULL;
  if (end->context && ibv_close_device(end->context)) return "ibv_close_device";
  end->context = NULL;
  return NULL;
}
