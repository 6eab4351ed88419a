// A ping-pong beside many idle connections of the same two processes: what an idle queue pair costs in memory, and what
// it adds to a message's time.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fail.h"
#include "messages.h"
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"

// Addresses that fit in one message between the processes.
enum { kChunk = 64 };

static size_t resident_bytes(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  size_t pages = 0;
  if (!file || fscanf(file, "%*u %zu", &pages) != 1) fail_with(errno, "/proc/self/statm");
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

// They share everything with the active one but their queues, which hold one request each.
static struct queue_pair* connect_idle(const struct queue_pair* active, const struct peer* peer, uint32_t count) {
  struct queue_pair* idle = calloc(count + 1, sizeof *idle);
  if (!idle) fail_with(ENOMEM, "-q");
  struct ibv_qp_init_attr attr = {
      .send_cq = active->cq,
      .recv_cq = active->cq,
      .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
      .qp_type = IBV_QPT_RC,
  };
  for (uint32_t first = 0; first < count; first += kChunk) {
    struct address mine[kChunk] = {0};
    struct address theirs[kChunk];
    const uint32_t end = first + kChunk < count ? first + kChunk : count;
    for (uint32_t i = first; i < end; ++i) {
      idle[i] = *active;
      idle[i].qp = ibv_create_qp(active->pd, &attr);
      if (!idle[i].qp) fail_with(errno, "ibv_create_qp");
      mine[i - first] = queue_pair_address(&idle[i]);
    }
    peer_swap(peer, mine, theirs, sizeof mine);
    for (uint32_t i = first; i < end; ++i) queue_pair_join(&idle[i], &theirs[i - first]);
  }
  return idle;
}

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 20000};
  parse_options(argc, argv, &options);
  struct peer peer;
  peer_start(&peer);
  struct queue_pair active = {0};
  queue_pair_connect(&active, &peer, 2 * (size_t)options.size, kMessageDepth);
  messages_begin(&active, options.size);
  const size_t before = resident_bytes();
  struct queue_pair* idle = connect_idle(&active, &peer, options.queue_pairs);
  const size_t after = resident_bytes();
  uint64_t* samples = calloc(options.count, sizeof *samples);
  if (!samples) fail_with(ENOMEM, "-n");
  peer_meet(&peer);
  for (uint32_t i = 0; i < options.count; ++i) {
    const uint64_t start = now_ns();
    if (!peer.is_server) send_message(&active, options.size);
    take_message(&active, options.size);
    if (peer.is_server) send_message(&active, options.size);
    samples[i] = now_ns() - start;
  }
  peer_meet(&peer);
  if (!peer.is_server) {
    const uint32_t count = options.queue_pairs > 0 ? options.queue_pairs : 1;
    print_round_trips_with(samples, options.count, "bytes", (double)(after - before) / count);
  }
  for (uint32_t i = 0; i < options.queue_pairs; ++i) {
    if (ibv_destroy_qp(idle[i].qp) != 0) fail_with(errno, "ibv_destroy_qp");
  }
  free(idle);
  queue_pair_close(&active);
  peer_finish(&peer);
}
