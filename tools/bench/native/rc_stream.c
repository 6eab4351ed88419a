// A stream of RDMA WRITEs from one process to the other. The last one tells the receiver that it is all there, and the
// receiver then looks whether it is.
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"

static char pattern(size_t offset) { return (char)(offset * 31 + (offset >> 12)); }

static void write_one(struct queue_pair* pair, const struct options* options, uint32_t index) {
  const size_t offset = (size_t)(index % options->window) * options->size;
  const bool last = index == options->count - 1;
  struct ibv_send_wr work = {
      .opcode = last ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
      .send_flags = IBV_SEND_SIGNALED,
      .wr.rdma = {.remote_addr = pair->remote_address + offset, .rkey = pair->remote_key},
  };
  queue_pair_post(pair, offset, options->size, &work);
}

static void send_all(struct queue_pair* pair, const struct options* options) {
  struct ibv_wc completions[32];
  const uint64_t start = now_ns();
  for (uint32_t posted = 0, done = 0; done < options->count;) {
    for (; posted < options->count && posted - done < options->window; ++posted) write_one(pair, options, posted);
    done += (uint32_t)queue_pair_poll(pair, completions, 32);
  }
  print_rate((uint64_t)options->count * options->size, now_ns() - start);
}

static void check_all(const struct queue_pair* pair, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (pair->buffer[i] != pattern(i)) fail("byte %zu is wrong", i);
  }
}

int main(int argc, char** argv) {
  struct options options = {.size = 1 << 20, .count = 256, .window = 16};
  parse_options(argc, argv, &options);
  const size_t slots = options.count < options.window ? options.count : options.window;
  const size_t bytes = slots * options.size;
  struct peer peer;
  peer_start(&peer);
  struct queue_pair pair;
  queue_pair_connect(&pair, &peer, bytes, options.window);
  if (peer.is_server) {
    queue_pair_receive(&pair, 0, 0);
  } else {
    for (size_t i = 0; i < bytes; ++i) pair.buffer[i] = pattern(i);
  }
  peer_meet(&peer);
  if (!peer.is_server) {
    send_all(&pair, &options);
  } else if (!options.idle_peer) {
    struct ibv_wc completion;
    while (queue_pair_poll(&pair, &completion, 1) == 0) continue;
  }
  peer_meet(&peer);
  if (peer.is_server) check_all(&pair, bytes);
  queue_pair_close(&pair);
  peer_finish(&peer);
}
