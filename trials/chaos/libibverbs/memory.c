#define _GNU_SOURCE
#include "memory.h"

#include <string.h>
#include <sys/mman.h>

#include "pattern.h"

enum { LOCAL = IBV_ACCESS_LOCAL_WRITE, REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
enum { TX = 8 * LONGEST, RX = 16 * LONGEST, SHARED = WINDOW + AREA };

static void *pages(size_t length) {
  void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

const char *memory_make(struct memory *memory, struct ibv_pd *pd, uint32_t me) {
  memory->tx = pages(TX);
  memory->rx = pages(RX);
  memory->window = pages(SHARED);
  if (!memory->tx || !memory->rx || !memory->window) return "mmap";
  memory->area = memory->window + WINDOW;
  memcpy(memory->area, pattern_readable(me), READABLE);
  memory->tx_mr = ibv_reg_mr(pd, memory->tx, TX, LOCAL);
  memory->rx_mr = ibv_reg_mr(pd, memory->rx, RX, LOCAL);
  memory->shared_mr = ibv_reg_mr(pd, memory->window, SHARED, LOCAL | REMOTE | IBV_ACCESS_REMOTE_ATOMIC);
  return memory->tx_mr && memory->rx_mr && memory->shared_mr ? NULL : "ibv_reg_mr";
}

const char *memory_free(struct memory *memory) {
  struct ibv_mr *regions[] = {memory->tx_mr, memory->rx_mr, memory->shared_mr};
  const char *failed = NULL;
  for (int i = 0; i < 3; i++) {
    if (regions[i] && ibv_dereg_mr(regions[i])) failed = "ibv_dereg_mr";
  }
  if (memory->tx) munmap(memory->tx, TX);
  if (memory->rx) munmap(memory->rx, RX);
  if (memory->window) munmap(memory->window, SHARED);
  memset(memory, 0, sizeof *memory);
  return failed;
}
