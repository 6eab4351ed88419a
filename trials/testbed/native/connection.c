#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static void modify(struct run *run, struct ibv_qp_attr *attr, enum ibv_qp_state state, int mask) {
  attr->qp_state = state;
  const int result = ibv_modify_qp(run->qp, attr, mask | IBV_QP_STATE);
  if (result != 0) fail(run, "ibv_modify_qp to state %d: %s", (int)state, strerror(result));
}

static void create(struct run *run, const struct terms *terms) {
  struct ibv_qp_init_attr init = {
      .qp_type = terms->type != 0 ? terms->type : IBV_QPT_RC,
      .send_cq = run->cq,
      .recv_cq = run->cq,
      .srq = terms->srq,
      .cap = {.max_send_wr = 64, .max_recv_wr = 256, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64}};
  run->qp = ibv_create_qp(run->end->pd, &init);
  if (run->qp == NULL) fail(run, "ibv_create_qp: %s", strerror(errno));
}

struct peer connect_peers(struct run *run, const struct terms *terms) {
  const struct end *end = run->end;
  create(run, terms);
  const bool reliable = run->qp->qp_type == IBV_QPT_RC;
  const uint8_t rd_atomic = terms->rd_atomic != 0 ? terms->rd_atomic : 16;
  struct ibv_qp_attr attr = {.port_num = 1, .qp_access_flags = terms->access != 0 ? terms->access : ACCESS};
  if (!reliable) attr.qp_access_flags &= ~(unsigned)(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  modify(run, &attr, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

  struct peer mine = {.qpn = run->qp->qp_num,
                      .psn = terms->psn != 0 ? terms->psn : (run->qp->qp_num * 7919u) & 0xffffff,
                      .rkey = end->mr->rkey,
                      .out = (uintptr_t)end->out,
                      .in = (uintptr_t)end->in};
  struct peer peer;
  memcpy(mine.gid, end->gid.raw, sizeof mine.gid);
  swap(run, &mine, &peer, sizeof peer);

  attr = (struct ibv_qp_attr){
      .path_mtu = terms->mtu != 0 ? terms->mtu : IBV_MTU_1024,
      .dest_qp_num = peer.qpn,
      .rq_psn = peer.psn,
      .max_dest_rd_atomic = rd_atomic,
      .min_rnr_timer = terms->min_rnr_timer != 0 ? terms->min_rnr_timer : 12,
      .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = (uint8_t)end->gid_index, .hop_limit = 64}}};
  memcpy(attr.ah_attr.grh.dgid.raw, peer.gid, sizeof peer.gid);
  const int responder = reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
  modify(run, &attr, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | responder);
  attr = (struct ibv_qp_attr){.sq_psn = mine.psn,
                              .timeout = terms->timeout != 0 ? terms->timeout : run->end->timeout,
                              .retry_cnt = terms->retry_cnt != 0 ? terms->retry_cnt : 7,
                              .rnr_retry = terms->rnr_retry != 0 ? terms->rnr_retry & 7 : 7,
                              .max_rd_atomic = rd_atomic};
  const int requester = reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0;
  modify(run, &attr, IBV_QPS_RTS, IBV_QP_SQ_PSN | requester);
  meet(run);
  return peer;
}

int try_post(struct run *run, const struct request *request) {
  struct ibv_sge sge = {(uintptr_t)run->end->out + request->local, request->length, run->end->mr->lkey};
  struct ibv_send_wr wr = {.wr_id = request->id,
                           .sg_list = &sge,
                           .num_sge = request->length == 0 ? 0 : 1,
                           .opcode = request->opcode,
                           .send_flags = request->flags | IBV_SEND_SIGNALED};
  if (request->opcode == IBV_WR_SEND_WITH_INV) {
    wr.invalidate_rkey = request->imm;
  } else {
    wr.imm_data = htonl(request->imm);
  }
  if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
    wr.wr.atomic.remote_addr = request->remote;
    wr.wr.atomic.rkey = request->rkey;
    wr.wr.atomic.compare_add = request->compare_add;
    wr.wr.atomic.swap = request->swap;
  } else {
    wr.wr.rdma.remote_addr = request->remote;
    wr.wr.rdma.rkey = request->rkey;
  }
  struct ibv_send_wr *bad = NULL;
  return ibv_post_send(run->qp, &wr, &bad);
}

void post(struct run *run, const struct request *request) {
  const int result = try_post(run, request);
  if (result != 0) fail(run, "ibv_post_send: %s", strerror(result));
}

void post_receive(struct run *run, uint64_t id, uint64_t local, uint32_t length) {
  struct ibv_sge sge = {(uintptr_t)run->end->out + local, length, run->end->mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = length == 0 ? 0 : 1};
  struct ibv_recv_wr *bad = NULL;
  const int result = run->srq != NULL ? ibv_post_srq_recv(run->srq, &wr, &bad) : ibv_post_recv(run->qp, &wr, &bad);
  if (result != 0) fail(run, "ibv_post_recv: %s", strerror(result));
}
