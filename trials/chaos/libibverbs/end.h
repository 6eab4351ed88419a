// One end of a connection: a device, and an RC connection after the other with verified traffic.
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "tally.h"

enum { DEPTH = 8, RECEIVES = 16 };

// What is done when a request has succeeded, with the memory of its slot.
enum work { FREE, MESSAGE, READ, WRITE_FIRST, READ_BACK, ADD };

struct request {
  enum work work;
  uint64_t expected;  // what an atomic finds
  const uint8_t *bytes;
  uint32_t length;
};

struct end {
  const char *device;
  uint32_t me, seed;
  bool polls;  // otherwise it waits for events

  struct ibv_context *context;
  struct ibv_pd *pd;

  // The connection.
  struct ibv_comp_channel *channel;
  struct ibv_cq *cq;
  struct ibv_qp *qp;
  union ibv_gid gid;
  enum ibv_mtu mtu;
  struct memory memory;
  struct peer peer;
  pthread_t thread;
  bool running;  // the thread is there

  // Of the thread, and under the lock of everybody.
  pthread_mutex_t lock;
  bool closed, stopped;
  struct request requests[DEPTH];
  uint32_t random;
  uint32_t pending, sent, received, limit;
  uint64_t added;
  struct tally tally;
};

// NULL, or what failed, with errno.
const char *end_open(struct end *end);
const char *end_make(struct end *end);
const char *end_connect(struct end *end, uint32_t qp_num, const union ibv_gid *gid);
void end_start(struct end *end, const struct peer *peer, uint32_t limit);
// Returns when everything that was sent has completed.
void end_stop(struct end *end);
const char *end_disconnect(struct end *end);
const char *end_close(struct end *end);

// The thread of the connection.
void *end_traffic(void *end);
// Posts all receive requests.
const char *end_receive_all(struct end *end);
