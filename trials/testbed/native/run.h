// One case at one of its two ends: what it may use, and how it fails.
#ifndef VERBS_TESTBED_RUN_H
#define VERBS_TESTBED_RUN_H

#include <infiniband/verbs.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "exchange.h"

#define HALF (9u << 20)  // bytes to send from, and as many to receive into
#define ACCESS                                                                                            \
  (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
   IBV_ACCESS_MW_BIND)

// The device of this end, for all cases.
struct end {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_comp_channel *channel;
  uint8_t *out;
  uint8_t *in;
  struct ibv_mr *mr;  // of both
  bool ipv6;
  uint8_t timeout;  // of acknowledgements: 4.096 us << timeout
  int gid_index;
  union ibv_gid gid;
  struct ibv_port_attr port;
};

struct run {
  struct end *end;
  struct exchange *exchange;
  bool active;        // this end makes the requests, the other one answers
  struct ibv_cq *cq;  // the objects of the case, destroyed after it
  struct ibv_qp *qp;
  struct ibv_srq *srq;
  struct ibv_mw *mw;
  struct ibv_ah *ah;
  struct ibv_wc early;  // a receive that completed before the send that it answers
  bool has_early;
  char failure[OUTCOME_TEXT];
  jmp_buf leave;
};

struct interop_case {
  const char *name;
  void (*run)(struct run *run, const void *argument);
  const void *argument;
};

// Opens the device and finds the GID of the address. Ends the process if there is none.
void end_open(struct end *end, const char *device, const char *address);

// Runs the case; the result is the reason of the failure at either end, or NULL.
const char *run_case(struct end *end, struct exchange *exchange, bool active, const struct interop_case *which);

// Leaves the case.
__attribute__((noreturn, format(printf, 2, 3))) void fail(struct run *run, const char *format, ...);

// Waits until the peer is here too.
void meet(struct run *run);
void swap(struct run *run, const void *mine, void *theirs, size_t size);

// The next completion, whatever its status.
struct ibv_wc next_completion(struct run *run);
// The next completion, which must be a success.
struct ibv_wc next_success(struct run *run);
// No completion for so many milliseconds.
void no_completion(struct run *run, int milliseconds);

// Bytes that differ by seed and place.
void fill(uint8_t *memory, size_t size, unsigned seed);
void check_bytes(struct run *run, const uint8_t *memory, size_t size, unsigned seed, const char *what);

#endif
