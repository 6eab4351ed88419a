// How messages are received: late, from a shared queue, with an event; and small ones that are sent inline.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cases.h"
#include "connection.h"

static void send_message(struct run *run, uint64_t id, uint32_t length, unsigned flags) {
  fill(run->end->out, length, (unsigned)id);
  post(run, &(struct request){.opcode = IBV_WR_SEND, .id = id, .length = length, .flags = flags});
}

// The receiver is not ready for 100 ms: the sender repeats the message until it is.
static void late_receive(struct run *run, const void *argument) {
  (void)argument;
  connect_peers(run, &(struct terms){0});
  if (run->active) {
    send_message(run, 1, 3000, 0);
    next_success(run);
    meet(run);
    return;
  }
  usleep(100000);
  post_receive(run, 1, HALF, 4096);
  if (next_success(run).byte_len != 3000) fail(run, "byte_len");
  check_bytes(run, run->end->in, 3000, 1, "data");
  meet(run);
}

// The same without end: the retries of the sender run out.
static void no_receive(struct run *run, const void *argument) {
  (void)argument;
  connect_peers(run, &(struct terms){.rnr_retry = 2});
  if (run->active) {
    send_message(run, 1, 10, 0);
    const struct ibv_wc wc = next_completion(run);
    if (wc.status != IBV_WC_RNR_RETRY_EXC_ERR) fail(run, "%s", ibv_wc_status_str(wc.status));
  }
  meet(run);
}

static void shared_queue(struct run *run, const void *argument) {
  (void)argument;
  if (!run->active) {
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 64, .max_sge = 1}};
    run->srq = ibv_create_srq(run->end->pd, &init);
    if (run->srq == NULL) fail(run, "ibv_create_srq: %s", strerror(errno));
  }
  connect_peers(run, &(struct terms){.srq = run->srq});
  for (uint64_t i = 0; i < 32 && !run->active; ++i) post_receive(run, i, HALF + i * 4096, 4096);
  meet(run);
  for (unsigned i = 0; i < 32; ++i) {
    if (run->active) {
      send_message(run, i, 100 + i, 0);
      next_success(run);
      continue;
    }
    const struct ibv_wc wc = next_success(run);
    if (wc.byte_len != 100 + i) fail(run, "byte_len %u of %u", wc.byte_len, 100 + i);
    check_bytes(run, run->end->in + wc.wr_id * 4096, wc.byte_len, i, "data");
  }
  meet(run);
}

// The receiver sleeps until a solicited message comes; one that is not solicited does not wake it.
static void solicited(struct run *run, const void *argument) {
  (void)argument;
  connect_peers(run, &(struct terms){0});
  struct ibv_comp_channel *channel = run->end->channel;
  struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
  if (!run->active) {
    post_receive(run, 1, HALF, 64);
    post_receive(run, 2, HALF, 64);
    if (ibv_req_notify_cq(run->cq, 1) != 0) fail(run, "ibv_req_notify_cq");
  }
  meet(run);
  if (run->active) {
    send_message(run, 1, 8, 0);
    next_success(run);
  }
  meet(run);
  if (!run->active && poll(&ready, 1, 100) != 0) fail(run, "a message that is not solicited gave an event");
  meet(run);
  if (run->active) {
    send_message(run, 2, 8, IBV_SEND_SOLICITED);
    next_success(run);
  } else {
    struct ibv_cq *cq = NULL;
    void *context = NULL;
    if (poll(&ready, 1, 20000) != 1) fail(run, "no event of a solicited message");
    if (ibv_get_cq_event(channel, &cq, &context) != 0 || cq != run->cq) fail(run, "ibv_get_cq_event");
    ibv_ack_cq_events(cq, 1);
    next_success(run);
    next_success(run);
  }
  meet(run);
}

static void inline_messages(struct run *run, const void *argument) {
  (void)argument;
  connect_peers(run, &(struct terms){0});
  for (uint64_t i = 0; i < 64 && !run->active; ++i) post_receive(run, i, HALF + i * 64, 64);
  meet(run);
  for (unsigned i = 0; i < 64; ++i) {
    if (run->active) {
      send_message(run, i, i, IBV_SEND_INLINE);
      memset(run->end->out, 0xdd, 64);  // it is the program's again at once
      next_success(run);
      continue;
    }
    if (next_success(run).byte_len != i) fail(run, "byte_len of %u", i);
    check_bytes(run, run->end->in + (size_t)i * 64, i, i, "data");
  }
  meet(run);
}

void add_receive_cases(struct case_list *list) {
  list_add(list, late_receive, NULL, "rc receive posted late");
  list_add(list, no_receive, NULL, "rc receive never posted");
  list_add(list, shared_queue, NULL, "rc shared receive queue");
  list_add(list, solicited, NULL, "rc solicited event");
  list_add(list, inline_messages, NULL, "rc inline");
}
