// A ping-pong of RC SENDs between two processes that poll without a pause.
#include <errno.h>
#include <stdlib.h>

#include "fail.h"
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"

enum { kDepth = 16 };

static void send_message(struct queue_pair* pair, uint32_t size) {
  struct ibv_send_wr work = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  queue_pair_post(pair, 0, size, &work);
}

// Waits for the other side's message and puts a new receive in the place of the one it took.
static void take_message(struct queue_pair* pair, uint32_t size) {
  struct ibv_wc completions[kDepth];
  for (int received = 0; received == 0;) {
    const int found = queue_pair_poll(pair, completions, kDepth);
    for (int i = 0; i < found; ++i) {
      if (completions[i].opcode != IBV_WC_RECV) continue;
      if (completions[i].byte_len != size) fail("%u bytes came instead of %u", completions[i].byte_len, size);
      ++received;
    }
  }
  queue_pair_receive(pair, size, size);
}

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 20000};
  parse_options(argc, argv, &options);
  struct peer peer;
  peer_start(&peer);
  struct queue_pair pair;
  queue_pair_connect(&pair, &peer, 2 * (size_t)options.size, kDepth);
  for (int i = 0; i < kDepth; ++i) queue_pair_receive(&pair, options.size, options.size);
  uint64_t* samples = calloc(options.count, sizeof *samples);
  if (!samples) fail_with(ENOMEM, "-n");
  peer_meet(&peer);
  for (uint32_t i = 0; i < options.count; ++i) {
    const uint64_t start = now_ns();
    if (!peer.is_server) send_message(&pair, options.size);
    take_message(&pair, options.size);
    if (peer.is_server) send_message(&pair, options.size);
    samples[i] = now_ns() - start;
  }
  peer_meet(&peer);
  if (!peer.is_server) print_round_trips(samples, options.count);
  queue_pair_close(&pair);
  peer_finish(&peer);
}
