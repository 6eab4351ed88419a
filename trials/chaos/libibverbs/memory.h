// The memory of one end: buffers to send from and to receive into, a window that the peer writes to and the program
// reads, and an area that only the NIC uses once it is filled, so that it may be unmapped.
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

enum {
  LONGEST = 16384,
  SLOT = 4096,
  PAGE = 4096,
  WINDOW_SLOTS = 32,  // more than receive requests: a slot is verified before the peer writes to it again
  WINDOW = WINDOW_SLOTS * SLOT,
  READABLE = 65536,
  SINK = 8 * SLOT,
  AREA = READABLE + SINK + PAGE,  // the last page is for a counter
};

struct memory {
  uint8_t *tx, *rx, *window, *area;
  struct ibv_mr *tx_mr, *rx_mr, *shared_mr;
};

// The memory of the peer.
struct peer {
  uint64_t addr;
  uint32_t rkey;
};

const char *memory_make(struct memory *memory, struct ibv_pd *pd, uint32_t me);
const char *memory_free(struct memory *memory);

static inline uint32_t slot_of(uint32_t number) { return number % WINDOW_SLOTS * SLOT; }
static inline uint64_t peer_window(const struct peer *peer, uint32_t number) { return peer->addr + slot_of(number); }
static inline uint64_t peer_readable(const struct peer *peer) { return peer->addr + WINDOW; }
static inline uint64_t peer_sink(const struct peer *peer, uint32_t slot) {
  return peer->addr + WINDOW + READABLE + (uint64_t)slot * SLOT;
}
static inline uint64_t peer_counter(const struct peer *peer) { return peer->addr + WINDOW + READABLE + SINK; }
