// The two processes of a benchmark, and the channel over which they exchange their addresses.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct peer {
  int channel;
  bool is_server;  // the forked one
};

// Forks. Where VERBS_SOFT_OF_SERVER is set, that is the server's VERBS_SOFT. Each process gets a processor of its own
// if there are two; otherwise they share one. If either process fails, the other one ends too.
void peer_start(struct peer* peer);

// Sends `mine` and receives the other one's message of the same size; both call it at the same point.
void peer_swap(const struct peer* peer, const void* mine, void* theirs, size_t size);

// Both processes pass it at about the same time.
void peer_meet(const struct peer* peer);

// Ends the program: the server at once, the client when the server has ended well.
_Noreturn void peer_finish(const struct peer* peer);
