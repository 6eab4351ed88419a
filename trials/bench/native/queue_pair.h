// One end of an RC connection, with one buffer that the other end may read and write.
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#include "peer.h"

struct queue_pair {
  bool shared;  // set before it is opened: the buffer is memory that the peer's NIC may map, if the device takes it
  struct ibv_context* context;
  struct ibv_pd* pd;
  struct ibv_mr* mr;
  struct ibv_cq* cq;  // of both queues
  struct ibv_qp* qp;
  char* buffer;
  size_t mapped;            // its bytes, if it is shared
  uint64_t remote_address;  // of the other side's buffer
  uint32_t remote_key;
};

// The address that the two ends exchange.
struct address {
  union ibv_gid gid;
  uint32_t qp_num;
  uint32_t rkey;
  uint64_t buffer;
};

// Opens the device of that place in the list, and connects it to the other end at its port's MTU.
void queue_pair_open(struct queue_pair* pair, int device, size_t bytes, uint32_t depth);
// One more queue pair with the objects that `pair` has; `pair->qp` becomes it.
void queue_pair_add(struct queue_pair* pair);
struct address queue_pair_address(const struct queue_pair* pair);
void queue_pair_join(struct queue_pair* pair, const struct address* theirs);

// The same between the first two devices of this process.
void queue_pair_open_both(struct queue_pair* left, struct queue_pair* right, size_t bytes, uint32_t depth);

// All three between two processes: each opens its first device.
void queue_pair_connect(struct queue_pair* pair, const struct peer* peer, size_t bytes, uint32_t depth);

// Receives into the whole of the buffer's `size` bytes from `offset` on.
void queue_pair_receive(struct queue_pair* pair, size_t offset, uint32_t size);

// Posts a list of complete receives.
void queue_pair_receive_list(struct queue_pair* pair, struct ibv_recv_wr* first);

// Sends; `work` needs its opcode and flags (and the remote offset for a WRITE in wr.rdma.remote_addr).
void queue_pair_post(struct queue_pair* pair, size_t offset, uint32_t size, struct ibv_send_wr* work);

// Posts a list of complete requests.
void queue_pair_post_list(struct queue_pair* pair, struct ibv_send_wr* first);

// Up to `max` completions, without waiting; any error ends the program.
int queue_pair_poll(struct queue_pair* pair, struct ibv_wc* completions, int max);

void queue_pair_close(struct queue_pair* pair);
