// The command line that all benchmark programs share.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { kMaxList = 64 };

struct options {
  uint32_t size;         // -s: bytes of a message
  uint32_t count;        // -n: round trips, or messages of a stream
  uint32_t window;       // -w: messages of a stream in flight
  uint32_t list;         // -l: messages of a stream in one post call, at most kMaxList
  uint32_t queue_pairs;  // -q: idle ones beside the one that is measured
  uint32_t neighbours;   // -p: processes beside each end, at its address
  bool idle_peer;        // -b: the peer of a stream blocks instead of polling
  bool one_place;        // -o: all messages of a stream from one buffer to one buffer of their size
  bool shared;           // -m: messages from and to memory that both processes may map
  bool read;             // -r: a stream of RDMA READs instead of WRITEs
};

// Overwrites the defaults by the command line; a wrong one ends the program with exit code 2.
void parse_options(int argc, char** argv, struct options* options);
