// Connected queue pairs, RC and UC, and the requests that the cases make of them.
#ifndef VERBS_TESTBED_CONNECTION_H
#define VERBS_TESTBED_CONNECTION_H

#include "run.h"

// What cases vary; zero is the usual value.
struct terms {
  enum ibv_qp_type type;  // RC or UC
  enum ibv_mtu mtu;       // 1024
  uint32_t psn;           // of this end's first packet; 0: by chance
  unsigned access;        // of the queue pair; 0: all
  uint8_t rd_atomic;      // 16
  uint8_t rnr_retry;      // 7, for ever; 8 is 0
  uint8_t min_rnr_timer;  // 12, 0.64 ms
  uint8_t timeout;        // the end's
  uint8_t retry_cnt;      // 7
  struct ibv_srq *srq;
};

// The other end.
struct peer {
  uint32_t qpn;
  uint32_t psn;
  uint32_t rkey;
  uint32_t reserved;
  uint64_t out;
  uint64_t in;
  uint8_t gid[16];
};

// Connects run->qp with the peer's.
struct peer connect_peers(struct run *run, const struct terms *terms);

struct request {
  enum ibv_wr_opcode opcode;
  uint64_t id;
  uint64_t local;  // offset in the memory of this end
  uint32_t length;
  uint64_t remote;
  uint32_t rkey;
  uint32_t imm;  // in host order; a key with SEND_WITH_INV
  unsigned flags;
  uint64_t compare_add;
  uint64_t swap;
};

// The result of ibv_post_send.
int try_post(struct run *run, const struct request *request);
void post(struct run *run, const struct request *request);
void post_receive(struct run *run, uint64_t id, uint64_t local, uint32_t length);

#endif
