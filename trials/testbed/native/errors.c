// Requests that the peer refuses: the status at the requester, and that nothing was touched.
#include <errno.h>
#include <stdio.h>

#include "cases.h"
#include "connection.h"

struct error_case {
  const char *name;
  enum ibv_wr_opcode opcode;
  uint32_t key_change;  // to the right key
  uint64_t beyond;      // bytes that the end of the range is behind the region
  uint64_t shift;       // of the address
  unsigned access;      // of the peer's queue pair
  uint32_t receive;     // bytes of the peer's receive request; 0: none
  enum ibv_wc_status status;
  enum ibv_wc_status or_status;  // where devices differ
};

static const struct error_case cases[] = {
    {"wrong key of a write", IBV_WR_RDMA_WRITE, 1, 0, 0, ACCESS, 0, IBV_WC_REM_ACCESS_ERR, 0},
    {"wrong key of a read", IBV_WR_RDMA_READ, 1, 0, 0, ACCESS, 0, IBV_WC_REM_ACCESS_ERR, 0},
    {"wrong key of an atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 0, ACCESS, 0, IBV_WC_REM_ACCESS_ERR, 0},
    {"unknown key of a write", IBV_WR_RDMA_WRITE, 0x5a5a00, 0, 0, ACCESS, 0, IBV_WC_REM_ACCESS_ERR, 0},
    {"write behind the region", IBV_WR_RDMA_WRITE, 0, 1, 0, ACCESS, 0, IBV_WC_REM_ACCESS_ERR, 0},
    {"read behind the region", IBV_WR_RDMA_READ, 0, 1, 0, ACCESS, 0, IBV_WC_REM_ACCESS_ERR, 0},
    {"atomic off its boundary", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 4, ACCESS, 0, IBV_WC_REM_INV_REQ_ERR, 0},
    {"write without the right", IBV_WR_RDMA_WRITE, 0, 0, 0, IBV_ACCESS_REMOTE_READ, 0, IBV_WC_REM_INV_REQ_ERR,
     IBV_WC_REM_ACCESS_ERR},
    {"read without the right", IBV_WR_RDMA_READ, 0, 0, 0, IBV_ACCESS_REMOTE_WRITE, 0, IBV_WC_REM_INV_REQ_ERR,
     IBV_WC_REM_ACCESS_ERR},
    {"atomic without the right", IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0, 0, IBV_ACCESS_REMOTE_WRITE, 0, IBV_WC_REM_INV_REQ_ERR,
     IBV_WC_REM_ACCESS_ERR},
    // rxe answers with an operational error, the specification has an invalid request.
    {"send longer than its receive", IBV_WR_SEND, 0, 0, 0, ACCESS, 4, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR},
};

static void request_refused(struct run *run, const struct error_case *which, const struct peer *peer) {
  const uint64_t remote = which->beyond != 0 ? peer->in + HALF + which->beyond - 8 : peer->in + which->shift;
  const int result = try_post(run, &(struct request){.opcode = which->opcode,
                                                     .id = 7,
                                                     .local = HALF + 64,
                                                     .length = 8,
                                                     .remote = remote,
                                                     .rkey = peer->rkey ^ which->key_change});
  // rxe's own library does not even post it.
  if (which->shift != 0 && result == EINVAL) return;
  if (result != 0) fail(run, "ibv_post_send: %s", strerror(result));
  const struct ibv_wc wc = next_completion(run);
  if (wc.wr_id != 7) fail(run, "wr_id %d", (int)wc.wr_id);
  if (wc.status != which->status && (which->or_status == 0 || wc.status != which->or_status)) {
    fail(run, "%s", ibv_wc_status_str(wc.status));
  }
  // What follows in the queue is flushed.
  post(run, &(struct request){.opcode = IBV_WR_SEND, .id = 8});
  const struct ibv_wc flushed = next_completion(run);
  if (flushed.status != IBV_WC_WR_FLUSH_ERR) fail(run, "the next request: %s", ibv_wc_status_str(flushed.status));
}

static void refused(struct run *run, const void *argument) {
  const struct error_case *which = argument;
  const struct peer peer = connect_peers(run, &(struct terms){.access = run->active ? 0 : which->access});
  memset(run->end->in, 0xee, 64);
  if (!run->active && which->receive != 0) post_receive(run, 1, HALF, which->receive);
  meet(run);
  if (run->active) request_refused(run, which, &peer);
  meet(run);
  for (int i = 4; i < 64 && !run->active; ++i) {
    if (run->end->in[i] != 0xee) fail(run, "byte %d was written", i);
  }
}

// The peer's queue pair is gone: the retries run out.
static void nobody(struct run *run, const void *argument) {
  (void)argument;
  const struct peer peer = connect_peers(run, &(struct terms){.timeout = 12, .retry_cnt = 2});
  if (!run->active) {
    ibv_destroy_qp(run->qp);
    run->qp = NULL;
  }
  meet(run);
  if (run->active) {
    post(run, &(struct request){.opcode = IBV_WR_RDMA_WRITE, .length = 8, .remote = peer.in, .rkey = peer.rkey});
    const struct ibv_wc wc = next_completion(run);
    if (wc.status != IBV_WC_RETRY_EXC_ERR) fail(run, "%s", ibv_wc_status_str(wc.status));
  }
  meet(run);
}

void add_error_cases(struct case_list *list) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    list_add(list, refused, &cases[i], "rc %s", cases[i].name);
  }
  list_add(list, nobody, NULL, "rc peer that is gone");
}
