// A stream of RC SENDs from one process to the other, which posts its receives again in lists.
#include <errno.h>
#include <string.h>

#include "fail.h"
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"
#include "sharing/neighbours.h"

enum { kPolled = 64 };

static void post_receives(struct queue_pair* pair, const struct options* options, uint32_t count) {
  struct ibv_recv_wr work[kMaxList];
  struct ibv_sge piece = {
      .addr = (uintptr_t)pair->buffer + options->size, .length = options->size, .lkey = pair->mr->lkey};
  for (uint32_t i = 0; i < count; ++i) {
    work[i] = (struct ibv_recv_wr){.next = i + 1 < count ? &work[i + 1] : NULL, .sg_list = &piece, .num_sge = 1};
  }
  struct ibv_recv_wr* bad;
  const int error = ibv_post_recv(pair->qp, work, &bad);
  if (error != 0) fail_with(error, "ibv_post_recv");
}

static void receive_all(struct queue_pair* pair, const struct options* options) {
  struct ibv_wc completions[kPolled];
  uint32_t received = 0;
  uint32_t empty = 0;
  while (received < options->count) {
    const int found = queue_pair_poll(pair, completions, kPolled);
    for (int i = 0; i < found; ++i) {
      if (completions[i].byte_len != options->size) fail("%u bytes came", completions[i].byte_len);
    }
    received += (uint32_t)found;
    for (empty += (uint32_t)found; empty >= options->list; empty -= options->list) {
      post_receives(pair, options, options->list);
    }
  }
}

// Only the last request of a list asks for a completion, as throughput tests do.
static void post_sends(struct queue_pair* pair, const struct options* options) {
  struct ibv_send_wr work[kMaxList];
  struct ibv_sge piece = {.addr = (uintptr_t)pair->buffer, .length = options->size, .lkey = pair->mr->lkey};
  for (uint32_t i = 0; i < options->list; ++i) {
    const int last = i + 1 == options->list;
    work[i] = (struct ibv_send_wr){
        .next = last ? NULL : &work[i + 1],
        .sg_list = &piece,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = last ? IBV_SEND_SIGNALED : 0,
    };
  }
  queue_pair_post_list(pair, work);
}

static void send_all(struct queue_pair* pair, const struct options* options) {
  struct ibv_wc completions[kPolled];
  uint32_t posted = 0;
  uint32_t done = 0;
  while (done < options->count) {
    while (posted < options->count && posted - done + options->list <= options->window) {
      post_sends(pair, options);
      posted += options->list;
    }
    done += options->list * (uint32_t)queue_pair_poll(pair, completions, kPolled);
  }
}

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 100000, .window = 256, .list = 32};
  parse_options(argc, argv, &options);
  if (options.window % options.list != 0)
    fail("the window %u is no multiple of the list %u", options.window, options.list);
  options.count = (options.count + options.list - 1) / options.list * options.list;
  struct peer peer;
  peer_start(&peer);
  neighbours_start(options.neighbours);
  struct queue_pair pair = {0};
  // The receiver has room for two windows, so that the sender need not wait for it.
  queue_pair_connect(&pair, &peer, 2 * (size_t)options.size, 2 * options.window);
  if (peer.is_server) {
    for (uint32_t i = 0; i < 2 * options.window; i += options.list) post_receives(&pair, &options, options.list);
  } else {
    memset(pair.buffer, 0x5a, options.size);
  }
  peer_meet(&peer);
  const uint64_t start = now_ns();
  if (peer.is_server) {
    receive_all(&pair, &options);
  } else {
    send_all(&pair, &options);
    print_rate(options.count, options.size, now_ns() - start);
  }
  peer_meet(&peer);
  if (peer.is_server && (pair.buffer[options.size] != 0x5a || pair.buffer[2 * options.size - 1] != 0x5a)) {
    fail("another message came than was sent");
  }
  queue_pair_close(&pair);
  peer_finish(&peer);
}
