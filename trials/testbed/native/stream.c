// Many messages at once, of one operation or of all in turn. These cases also run where packets are lost.
#include <stdio.h>

#include "cases.h"
#include "connection.h"

enum { COUNT = 120, WINDOW = 16, SLOT = 16384 };

struct stream_case {
  uint32_t psn;
  uint8_t rd_atomic;
  int operations;
  enum ibv_wr_opcode opcodes[8];
};

static const uint32_t sizes[] = {0, 1, 100, 1024, 1025, 4096, 10000, 16383, 3, 2048, 5000};

static uint32_t size_of(int message) { return sizes[message % (int)(sizeof sizes / sizeof sizes[0])]; }

static enum ibv_wr_opcode opcode_of(const struct stream_case *which, int message) {
  return which->opcodes[message % which->operations];
}

static bool is_atomic(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

// The word of the atomics is behind the slots.
static const uint64_t word_at = (uint64_t)COUNT * SLOT;

static uint32_t key(int message) { return 0x5000u + (uint32_t)message; }

static void post_message(struct run *run, const struct stream_case *which, const struct peer *peer, int message) {
  const enum ibv_wr_opcode opcode = opcode_of(which, message);
  const uint64_t slot = (uint64_t)message * SLOT;
  const bool read = opcode == IBV_WR_RDMA_READ;
  struct request request = {.opcode = opcode,
                            .id = (uint64_t)message,
                            .local = read || is_atomic(opcode) ? HALF + slot : slot,
                            .length = is_atomic(opcode) ? 8 : size_of(message),
                            .remote = (read ? peer->out : peer->in) + slot,
                            .rkey = peer->rkey,
                            .imm = key(message)};
  if (is_atomic(opcode)) {
    request.remote = peer->in + word_at;
    request.compare_add = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 3 : UINT64_MAX;
  }
  post(run, &request);
}

static void check_own(struct run *run, const struct stream_case *which) {
  uint64_t expected = 0;
  for (int i = 0; i < COUNT; ++i) {
    const uint8_t *slot = run->end->in + (size_t)i * SLOT;
    if (opcode_of(which, i) == IBV_WR_RDMA_READ) check_bytes(run, slot, size_of(i), (unsigned)i, "read");
    if (!is_atomic(opcode_of(which, i))) continue;
    uint64_t before;
    memcpy(&before, slot, sizeof before);
    if (before != expected) fail(run, "atomic %d returned %lu, not %lu", i, before, expected);
    if (opcode_of(which, i) == IBV_WR_ATOMIC_FETCH_AND_ADD) expected += 3;
  }
}

static void run_active(struct run *run, const struct stream_case *which, const struct peer *peer) {
  int posted = 0;
  for (int done = 0; done < COUNT; ++done) {
    while (posted < COUNT && posted - done < WINDOW) post_message(run, which, peer, posted++);
    const struct ibv_wc wc = next_success(run);
    if (wc.wr_id != (uint64_t)done) fail(run, "request %d completed before %d", (int)wc.wr_id, done);
  }
  check_own(run, which);
}

static bool takes_receive(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void run_passive(struct run *run, const struct stream_case *which) {
  for (int i = 0; i < COUNT; ++i) {
    const enum ibv_wr_opcode opcode = opcode_of(which, i);
    if (!takes_receive(opcode)) continue;
    const struct ibv_wc wc = next_success(run);
    if (wc.wr_id != (uint64_t)i) fail(run, "receive %d came before %d", (int)wc.wr_id, i);
    if (wc.byte_len != size_of(i)) fail(run, "receive %d has %u bytes of %u", i, wc.byte_len, size_of(i));
    if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0 && __builtin_bswap32(wc.imm_data) != key(i)) fail(run, "imm of %d", i);
  }
}

static void check_passive(struct run *run, const struct stream_case *which) {
  uint64_t word = 0;
  uint64_t expected = 0;
  for (int i = 0; i < COUNT; ++i) {
    const enum ibv_wr_opcode opcode = opcode_of(which, i);
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) expected += 3;
    if (opcode == IBV_WR_RDMA_READ || is_atomic(opcode)) continue;
    check_bytes(run, run->end->in + (size_t)i * SLOT, size_of(i), (unsigned)i, "message");
  }
  memcpy(&word, run->end->in + word_at, sizeof word);
  if (word != expected) fail(run, "the word is %lu, not %lu", word, expected);
}

static void stream(struct run *run, const void *argument) {
  const struct stream_case *which = argument;
  struct end *end = run->end;
  memset(end->in, 0xee, (size_t)COUNT * SLOT);
  memset(end->in + word_at, 0, sizeof(uint64_t));
  for (int i = 0; i < COUNT; ++i) fill(end->out + (size_t)i * SLOT, size_of(i), (unsigned)i);
  const struct peer peer = connect_peers(run, &(struct terms){.psn = which->psn, .rd_atomic = which->rd_atomic});
  for (int i = 0; i < COUNT && !run->active; ++i) {
    if (takes_receive(opcode_of(which, i))) post_receive(run, (uint64_t)i, HALF + (uint64_t)i * SLOT, SLOT);
  }
  meet(run);
  if (run->active) {
    run_active(run, which, &peer);
  } else {
    run_passive(run, which);
  }
  meet(run);
  if (!run->active) check_passive(run, which);
}

#define ALL_OPERATIONS                                                                                                 \
  .operations = 7,                                                                                                     \
  .opcodes = {IBV_WR_SEND,          IBV_WR_RDMA_READ,          IBV_WR_RDMA_WRITE,         IBV_WR_ATOMIC_FETCH_AND_ADD, \
              IBV_WR_SEND_WITH_IMM, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_RDMA_WRITE_WITH_IMM}

void add_stream_cases(struct case_list *list) {
  static const struct stream_case sends = {.operations = 2, .opcodes = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM}};
  static const struct stream_case writes = {.operations = 2,
                                            .opcodes = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM}};
  static const struct stream_case reads = {.operations = 1, .opcodes = {IBV_WR_RDMA_READ}};
  static const struct stream_case atomics = {.operations = 2,
                                             .opcodes = {IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP}};
  static const struct stream_case all = {ALL_OPERATIONS};
  static const struct stream_case wrap = {.psn = 0xfffff0, ALL_OPERATIONS};
  static const struct stream_case one = {.rd_atomic = 1, ALL_OPERATIONS};
  list_add(list, stream, &sends, "rc stream of sends");
  list_add(list, stream, &writes, "rc stream of writes");
  list_add(list, stream, &reads, "rc stream of reads");
  list_add(list, stream, &atomics, "rc stream of atomics");
  list_add(list, stream, &all, "rc stream of everything");
  list_add(list, stream, &wrap, "rc across the wrap of the PSN");
  list_add(list, stream, &one, "rc with one READ or atomic at a time");
}
