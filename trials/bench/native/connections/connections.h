// How many connections are opened, and how many of them at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Being set up at a time: with more, messages are lost in the sockets' buffers.
enum { kPending = 32 };

struct connections {
  uint32_t count, window;
  bool is_server;
  uint32_t started, established, closed;
};

// True, and counted, if the client is to start one more.
static inline bool may_start(struct connections* all) {
  const bool may = all->started < all->count && all->started - all->closed < all->window &&
                   all->started - all->established < kPending;
  if (may) ++all->started;
  return may;
}

// True if the client is to close the new connection.
static inline bool established(struct connections* all) {
  ++all->established;
  return !all->is_server && all->window < all->count;
}

static inline void closed(struct connections* all) { ++all->closed; }

static inline bool all_established(const struct connections* all) { return all->established == all->count; }

static inline void print_connections(uint32_t count, uint64_t duration_ns) {
  printf("{\"unit\":\"connections/s\",\"rate\":%.0f}\n", count * 1e9 / (double)duration_ns);
}
