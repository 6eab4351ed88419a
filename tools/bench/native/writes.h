// A stream of RDMA WRITEs from one end to the other, into the slots of its buffer. The last one tells the other end
// that all is there.
#pragma once

#include "options.h"
#include "queue_pair.h"

struct writes {
  const struct options* options;
  uint32_t posted;
  uint32_t done;
};

// So many bytes the buffer of either end has.
size_t writes_bytes(const struct options* options);

// What is written, into the sender's buffer.
void writes_fill(const struct queue_pair* pair, const struct options* options);

// Posts what the window has room for, options->list requests a call, and takes up to 64 completions. False: all are
// done.
bool writes_turn(struct writes* writes, struct queue_pair* pair);

// Ends the program if the receiver's buffer does not hold what was written.
void writes_check(const struct queue_pair* pair, const struct options* options);
