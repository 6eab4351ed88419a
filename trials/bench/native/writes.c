#include "writes.h"

#include "fail.h"

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static char pattern(size_t offset) { return (char)(offset * 31 + (offset >> 12)); }

static uint32_t places(const struct options* options) {
  return options->one_place ? 1 : smaller(options->count, options->window);
}

size_t writes_bytes(const struct options* options) { return (size_t)places(options) * options->size; }

void writes_fill(const struct queue_pair* pair, const struct options* options) {
  for (size_t i = 0; i < writes_bytes(options); ++i) pair->buffer[i] = pattern(i);
}

void writes_check(const struct queue_pair* pair, const struct options* options) {
  for (size_t i = 0; i < writes_bytes(options); ++i) {
    if (pair->buffer[i] != pattern(i)) fail("byte %zu is wrong", i);
  }
}

// What all requests have in common, once: the cost is that of the NIC, and not of filling structures.
static void prepare(struct writes* writes, const struct queue_pair* pair) {
  const struct options* options = writes->options;
  for (uint32_t i = 0; i < kMaxList; ++i) {
    writes->pieces[i] = (struct ibv_sge){.length = options->size, .lkey = pair->mr->lkey};
    writes->work[i] = (struct ibv_send_wr){
        .next = &writes->work[i + 1],
        .sg_list = &writes->pieces[i],
        .num_sge = 1,
        .opcode = options->read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma.rkey = pair->remote_key,
    };
  }
}

// `count` requests in one call.
static void post(struct writes* writes, struct queue_pair* pair, uint32_t count) {
  const struct options* options = writes->options;
  if (writes->posted == 0) prepare(writes, pair);
  for (uint32_t i = 0; i < count; ++i, ++writes->posted) {
    const size_t offset = (size_t)(writes->posted % places(options)) * options->size;
    writes->pieces[i].addr = (uintptr_t)pair->buffer + offset;
    writes->work[i].wr_id = writes->posted;
    writes->work[i].wr.rdma.remote_addr = pair->remote_address + offset;
  }
  struct ibv_send_wr* last = &writes->work[count - 1];
  struct ibv_send_wr* const next = last->next;
  last->next = NULL;
  if (writes->posted == options->count && !options->read) last->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  queue_pair_post_list(pair, writes->work);
  last->next = next;
}

bool writes_step(struct writes* writes, struct queue_pair* pair) {
  const struct options* options = writes->options;
  for (;;) {
    const uint32_t next = smaller(options->list, options->count - writes->posted);
    if (next == 0 || writes->posted - writes->done + next > options->window) break;
    post(writes, pair, next);
  }
  struct ibv_wc completions[64];
  writes->done += (uint32_t)queue_pair_poll(pair, completions, 64);
  return writes->done < options->count;
}
