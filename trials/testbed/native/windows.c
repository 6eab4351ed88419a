// Memory windows of type 2: bound at one end, used and invalidated by the other.
#include <errno.h>
#include <stdio.h>

#include "cases.h"
#include "connection.h"

struct window {
  uint32_t rkey;
  uint32_t reserved;
  uint64_t address;
};

enum { OFFSET = 4096, LENGTH = 4096 };

static struct window bind_window(struct run *run) {
  run->mw = ibv_alloc_mw(run->end->pd, IBV_MW_TYPE_2);
  if (run->mw == NULL) fail(run, "ibv_alloc_mw: %s", strerror(errno));
  struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
  wr.bind_mw.mw = run->mw;
  wr.bind_mw.rkey = ibv_inc_rkey(run->mw->rkey);
  wr.bind_mw.bind_info.mr = run->end->mr;
  wr.bind_mw.bind_info.addr = (uintptr_t)run->end->in + OFFSET;
  wr.bind_mw.bind_info.length = LENGTH;
  wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  struct ibv_send_wr *bad = NULL;
  const int result = ibv_post_send(run->qp, &wr, &bad);
  if (result != 0) fail(run, "ibv_post_send of a bind: %s", strerror(result));
  if (next_success(run).opcode != IBV_WC_BIND_MW) fail(run, "not the completion of the bind");
  return (struct window){.rkey = wr.bind_mw.rkey, .address = wr.bind_mw.bind_info.addr};
}

static void use_window(struct run *run, const struct window *window) {
  fill(run->end->out, LENGTH, 5);
  post(run, &(struct request){
                .opcode = IBV_WR_RDMA_WRITE, .length = LENGTH, .remote = window->address, .rkey = window->rkey});
  next_success(run);
  post(run, &(struct request){.opcode = IBV_WR_SEND_WITH_INV, .id = 2, .length = 10, .imm = window->rkey});
  next_success(run);
  meet(run);
  post(run, &(struct request){
                .opcode = IBV_WR_RDMA_WRITE, .id = 3, .length = 1, .remote = window->address, .rkey = window->rkey});
  const struct ibv_wc wc = next_completion(run);
  if (wc.status != IBV_WC_REM_ACCESS_ERR) fail(run, "after the invalidation: %s", ibv_wc_status_str(wc.status));
}

static void windows(struct run *run, const void *argument) {
  (void)argument;
  struct window window = {0};
  struct window peers;
  connect_peers(run, &(struct terms){0});
  if (!run->active) {
    memset(run->end->in, 0xee, OFFSET + LENGTH + 1);
    window = bind_window(run);
    post_receive(run, 9, 0, 64);
  }
  swap(run, &window, &peers, sizeof window);
  if (run->active) {
    use_window(run, &peers);
    return;
  }
  const struct ibv_wc wc = next_success(run);
  // rxe gives the kernel's value of the flag, which is 4.
  if ((wc.wc_flags & (IBV_WC_WITH_INV | 4u)) == 0) fail(run, "wc_flags %x", (unsigned)wc.wc_flags);
  if (wc.invalidated_rkey != window.rkey) fail(run, "invalidated_rkey %x", wc.invalidated_rkey);
  check_bytes(run, run->end->in + OFFSET, LENGTH, 5, "window");
  if (run->end->in[OFFSET - 1] != 0xee || run->end->in[OFFSET + LENGTH] != 0xee) fail(run, "written beside the window");
  meet(run);
}

void add_window_cases(struct case_list *list) {
  list_add(list, windows, NULL, "rc memory window and remote invalidation");
}
