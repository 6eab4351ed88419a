// A stream of RDMA WRITEs from one end to the other, into the slots of its buffer, or of READs from there. The last
// WRITE carries immediate data, which notifies the other end.
#pragma once

#include "options.h"
#include "queue_pair.h"

struct writes {
  const struct options* options;
  uint32_t posted;
  uint32_t done;
  struct ibv_send_wr work[kMaxList];
  struct ibv_sge pieces[kMaxList];
};

// Bytes of either end's buffer.
size_t writes_bytes(const struct options* options);

// Fills the buffer that the bytes come from.
void writes_fill(const struct queue_pair* pair, const struct options* options);

// Fills the window, options->list requests a call, and polls up to 64 completions. False: all are done.
bool writes_step(struct writes* writes, struct queue_pair* pair);

// Ends the program if the buffer that they go to does not hold them.
void writes_check(const struct queue_pair* pair, const struct options* options);
