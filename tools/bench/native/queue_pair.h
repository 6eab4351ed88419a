// An RC queue pair between the two processes, with one buffer that the other side may write.
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>

#include "peer.h"

struct queue_pair {
  struct ibv_context* context;
  struct ibv_pd* pd;
  struct ibv_mr* mr;
  struct ibv_cq* cq;  // of both queues
  struct ibv_qp* qp;
  char* buffer;
  uint64_t remote_address;  // of the other side's buffer
  uint32_t remote_key;
};

// Opens the first device (each process has its own), and connects at its port's MTU.
void queue_pair_connect(struct queue_pair* pair, const struct peer* peer, size_t bytes, uint32_t depth);

// Receives into the whole of the buffer's `size` bytes from `offset` on.
void queue_pair_receive(struct queue_pair* pair, size_t offset, uint32_t size);

// Sends; `work` needs its opcode and flags (and the remote offset for a WRITE in wr.rdma.remote_addr).
void queue_pair_post(struct queue_pair* pair, size_t offset, uint32_t size, struct ibv_send_wr* work);

// Up to `max` completions, without waiting; any error ends the program.
int queue_pair_poll(struct queue_pair* pair, struct ibv_wc* completions, int max);

void queue_pair_close(struct queue_pair* pair);
