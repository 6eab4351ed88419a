// READs from a process that is passive: it sleeps for ever, or polls its completion queue every 1 ms, or every 10 ms.
// The other process posts one READ after the other and polls without a pause. The three take turns within one run,
// because the processors of a virtual machine move every few seconds.
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "options.h"
#include "peer.h"
#include "queue_pair.h"
#include "result.h"

static const struct {
  const char* figure;
  int pause_ms;  // between two polls; -1: it never polls
} kTargets[] = {{"sleeps", -1}, {"polls_1ms", 1}, {"polls_10ms", 10}};
enum { kTargetCount = sizeof kTargets / sizeof *kTargets, kDepth = 16 };

// READs of a turn: it takes some tens of milliseconds, in which every target that polls does so.
enum { kTurn = 2000 };

// The target's buffer is full of it.
enum { kByte = 0x5a };

// Until the other process ends its turn.
static void be_passive(struct queue_pair* pair, const struct peer* peer, int pause_ms) {
  struct pollfd turn = {.fd = peer->channel, .events = POLLIN};
  for (;;) {
    const int ready = poll(&turn, 1, pause_ms);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail_with(errno, "poll");
    struct ibv_wc completion;
    queue_pair_poll(pair, &completion, 1);
  }
}

static uint64_t read_once(struct queue_pair* pair, uint32_t size) {
  struct ibv_send_wr work = {
      .opcode = IBV_WR_RDMA_READ,
      .send_flags = IBV_SEND_SIGNALED,
      .wr.rdma = {.remote_addr = pair->remote_address, .rkey = pair->remote_key},
  };
  struct ibv_wc completion;
  const uint64_t start = now_ns();
  queue_pair_post(pair, 0, size, &work);
  while (queue_pair_poll(pair, &completion, 1) == 0) continue;
  return now_ns() - start;
}

static void check_bytes(const struct queue_pair* pair, uint32_t size) {
  for (uint32_t i = 0; i < size; ++i) {
    if (pair->buffer[i] != kByte) fail("byte %u of a READ is wrong", i);
  }
}

static void take_turn(struct queue_pair* pair, uint32_t size, uint64_t* samples, uint32_t count) {
  memset(pair->buffer, 0, size);
  for (uint32_t i = 0; i < count; ++i) samples[i] = read_once(pair, size);
  check_bytes(pair, size);
}

static void measure(struct queue_pair* pair, const struct peer* peer, const struct options* options) {
  uint64_t* samples[kTargetCount];
  for (int i = 0; i < kTargetCount; ++i) {
    samples[i] = calloc(options->count, sizeof *samples[i]);
    if (!samples[i]) fail_with(ENOMEM, "-n");
  }
  for (uint32_t done = 0; done < options->count; done += kTurn) {
    const uint32_t rest = options->count - done;
    for (int i = 0; i < kTargetCount; ++i) {
      peer_meet(peer);
      take_turn(pair, options->size, samples[i] + done, rest < kTurn ? rest : kTurn);
      peer_meet(peer);
    }
  }
  printf("{\"unit\":\"ns\"");
  for (int i = 0; i < kTargetCount; ++i) {
    printf(",\"%s\":%" PRIu64, kTargets[i].figure, percentile_of(samples[i], options->count, 0.5));
    printf(",\"%s_p99\":%" PRIu64, kTargets[i].figure, percentile_of(samples[i], options->count, 0.99));
    free(samples[i]);
  }
  printf("}\n");
}

static void serve(struct queue_pair* pair, const struct peer* peer, uint32_t count) {
  for (uint32_t done = 0; done < count; done += kTurn) {
    for (int i = 0; i < kTargetCount; ++i) {
      peer_meet(peer);
      be_passive(pair, peer, kTargets[i].pause_ms);
      peer_meet(peer);
    }
  }
}

int main(int argc, char** argv) {
  struct options options = {.size = 4096, .count = 20000};
  parse_options(argc, argv, &options);
  struct peer peer;
  peer_start(&peer);
  struct queue_pair pair;
  queue_pair_connect(&pair, &peer, options.size, kDepth);
  if (peer.is_server) {
    memset(pair.buffer, kByte, options.size);
    serve(&pair, &peer, options.count);
  } else {
    measure(&pair, &peer, &options);
  }
  queue_pair_close(&pair);
  peer_finish(&peer);
}
