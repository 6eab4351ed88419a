// What the process holds: descriptors and threads.
#pragma once

struct held {
  struct {
    char target[96];
    int count;
  } descriptors[64];
  int kinds, threads;
};

void held_now(struct held *held);

// Prints what is there beyond the baseline as the elements of a JSON array, after a while that threads may take to end.
// Up to `sockets` more sockets and `pidfds` more references to processes may be there.
void print_leftovers(const struct held *baseline, long milliseconds, int sockets, int pidfds);
