// A stream of RDMA WRITEs from one process to the other, or of READs from it. Whoever has the bytes then checks them.
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"
#include "writes.h"

// Each place is written twice before the time is taken: at first the ends find each other, and their pages.
static uint32_t warm_up(const struct options* options) { return 2 * options->window; }

static void send_all(struct queue_pair* pair, const struct options* options) {
  struct writes writes = {.options = options};
  while (writes.done < warm_up(options)) writes_step(&writes, pair);
  const uint32_t before = writes.done;
  const uint64_t start = now_ns();
  while (writes_step(&writes, pair)) continue;
  print_rate(options->count - before, options->size, now_ns() - start);
}

// The other end sees no READ.
static void notify(struct queue_pair* pair) {
  struct ibv_send_wr work = {
      .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
      .send_flags = IBV_SEND_SIGNALED,
      .wr.rdma = {.remote_addr = pair->remote_address, .rkey = pair->remote_key},
  };
  queue_pair_post(pair, 0, 0, &work);
  struct ibv_wc completion;
  while (queue_pair_poll(pair, &completion, 1) == 0) continue;
}

int main(int argc, char** argv) {
  struct options options = {.size = 1 << 20, .count = 256, .window = 16, .list = 1};
  parse_options(argc, argv, &options);
  options.count += warm_up(&options);
  struct peer peer;
  peer_start(&peer);
  struct queue_pair pair = {.shared = options.shared};
  queue_pair_connect(&pair, &peer, writes_bytes(&options), options.window);
  if (peer.is_server) queue_pair_receive(&pair, 0, 0);
  const bool is_source = peer.is_server == options.read;
  if (is_source) writes_fill(&pair, &options);
  peer_meet(&peer);
  if (!peer.is_server) {
    send_all(&pair, &options);
    if (options.read) notify(&pair);
  } else if (!options.idle_peer) {
    struct ibv_wc completion;
    while (queue_pair_poll(&pair, &completion, 1) == 0) continue;
  }
  peer_meet(&peer);
  if (!is_source) writes_check(&pair, &options);
  queue_pair_close(&pair);
  peer_finish(&peer);
}
