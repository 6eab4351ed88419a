// A ping-pong of RC SENDs between two processes that poll without a pause.
#include <errno.h>
#include <stdlib.h>

#include "fail.h"
#include "messages.h"
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"
#include "sharing/neighbours.h"

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 20000};
  parse_options(argc, argv, &options);
  struct peer peer;
  peer_start(&peer);
  neighbours_start(options.neighbours);
  struct queue_pair pair = {.shared = options.shared};
  queue_pair_connect(&pair, &peer, 2 * (size_t)options.size, kMessageDepth);
  messages_begin(&pair, options.size);
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
