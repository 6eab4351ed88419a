// A stream of RC SENDs between two devices of one process: what a message costs both of its ends. With -q, that many
// more queue pairs of each device are connected and do nothing.
#include <stdlib.h>

#include "fail.h"
#include "options.h"
#include "queue_pair.h"
#include "result.h"

enum { kPolled = 64 };

// The work requests, written once, as applications that count instructions do. One buffer serves all messages: the cost
// is that of the NIC, and not of the memory.
struct work {
  struct ibv_sge pieces[2];  // of the sender and of the receiver
  struct ibv_send_wr sends[kMaxList];
  struct ibv_recv_wr receives[kPolled];
};

static void prepare(struct work* work, const struct queue_pair* left, const struct queue_pair* right, uint32_t size) {
  struct ibv_sge* pieces = work->pieces;
  pieces[0] = (struct ibv_sge){.addr = (uintptr_t)left->buffer, .length = size, .lkey = left->mr->lkey};
  pieces[1] = (struct ibv_sge){.addr = (uintptr_t)right->buffer, .length = size, .lkey = right->mr->lkey};
  for (uint32_t i = 0; i < kMaxList; ++i) {
    work->sends[i] =
        (struct ibv_send_wr){.next = &work->sends[i + 1], .sg_list = &pieces[0], .num_sge = 1, .opcode = IBV_WR_SEND};
  }
  for (uint32_t i = 0; i < kPolled; ++i) {
    work->receives[i] = (struct ibv_recv_wr){.next = &work->receives[i + 1], .sg_list = &pieces[1], .num_sge = 1};
  }
}

// Only the last one is signaled.
static void send_list(struct queue_pair* pair, struct work* work, uint32_t count) {
  struct ibv_send_wr* last = &work->sends[count - 1];
  struct ibv_send_wr* const next = last->next;
  last->next = NULL;
  last->send_flags = IBV_SEND_SIGNALED;
  queue_pair_post_list(pair, work->sends);
  last->next = next;
  last->send_flags = 0;
}

static void receive_list(struct queue_pair* pair, struct work* work, uint32_t count) {
  if (count == 0) return;
  struct ibv_recv_wr* last = &work->receives[count - 1];
  struct ibv_recv_wr* const next = last->next;
  last->next = NULL;
  queue_pair_receive_list(pair, work->receives);
  last->next = next;
}

static void open_idle(const struct queue_pair* left, const struct queue_pair* right, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    struct queue_pair from = *left, to = *right;
    queue_pair_add(&from);
    queue_pair_add(&to);
    const struct address ends[2] = {queue_pair_address(&from), queue_pair_address(&to)};
    queue_pair_join(&from, &ends[1]);
    queue_pair_join(&to, &ends[0]);
  }
}

int main(int argc, char** argv) {
  struct options options = {.size = 64, .count = 100000, .window = 128, .list = 1};
  parse_options(argc, argv, &options);
  if (options.window < options.list) options.window = options.list;
  struct queue_pair left = {0}, right = {0};
  queue_pair_open_both(&left, &right, options.size, options.window);
  open_idle(&left, &right, options.queue_pairs);
  static struct work work;
  prepare(&work, &left, &right, options.size);
  for (uint32_t i = 0; i < options.window; i += kPolled) {
    receive_list(&right, &work, options.window - i < kPolled ? options.window - i : kPolled);
  }
  for (uint32_t i = 0; i < options.size; ++i) left.buffer[i] = (char)(i * 31 + 1);
  struct ibv_wc completions[kPolled];
  uint32_t posted = 0, done = 0, arrived = 0;
  const uint64_t start = now_ns();
  while (done < options.count || arrived < options.count) {
    const uint32_t left_over = options.count - posted;
    const uint32_t next = options.list < left_over ? options.list : left_over;
    if (next > 0 && posted - done + next <= options.window && posted - arrived + next <= options.window) {
      send_list(&left, &work, next);
      posted += next;
    }
    const int received = queue_pair_poll(&right, completions, kPolled);
    for (int i = 0; i < received; ++i) {
      if (completions[i].byte_len != options.size) fail("%u bytes came", completions[i].byte_len);
    }
    receive_list(&right, &work, (uint32_t)received);
    arrived += (uint32_t)received;
    const int lists = queue_pair_poll(&left, completions, kPolled);
    for (int i = 0; i < lists; ++i) {
      const uint32_t rest = options.count - done;
      done += options.list < rest ? options.list : rest;
    }
  }
  print_rate(options.count, options.size, now_ns() - start);
  for (uint32_t i = 0; i < options.size; ++i) {
    if (right.buffer[i] != (char)(i * 31 + 1)) fail("byte %u is wrong", i);
  }
  if (options.queue_pairs > 0) exit(0);  // the system destroys the idle ones
  queue_pair_close(&left);
  queue_pair_close(&right);
  return 0;
}
