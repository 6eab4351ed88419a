// A conformance suite for libibverbs: each case checks one rule of the specification (IBTA volume 1) or of the kernel's
// documented behaviour, by the plain C calls, between two queue pairs of one device. It runs on any RoCE device: the
// software NIC, the kernel's soft-RoCE, an adapter.
//
// Each case runs in a process of its own: a crash or a hang is the failure of one case.
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

enum { kRegion = 1 << 17, kDepth = 64, kQkey = 0x11223344 };

// -- the objects of a case; the process's end frees them

struct bench {
  struct ibv_context *context;
  struct ibv_device_attr device;
  struct ibv_port_attr port;
  struct ibv_pd *pd;
  struct ibv_comp_channel *channel;  // NULL without plan.events
  struct ibv_cq *cq;
  union ibv_gid gid;
  int gid_index;
  uint8_t *memory;  // kRegion bytes, filled with a pattern; the upper half is what peers write and read
  struct ibv_mr *mr;
  struct ibv_qp *a, *b;  // connected to each other, after connected()
};

// How queue pairs are made and connected; a field that is 0 has its default.
struct plan {
  enum ibv_qp_type type;  // IBV_QPT_RC
  enum ibv_mtu mtu;       // 1024
  uint32_t depth;         // kDepth
  uint32_t sges;          // 4
  uint32_t inline_data;
  int access;             // remote write, read and atomics; -1: none
  int rnr_retry;          // 7; -1: 0
  uint8_t min_rnr_timer;  // 1: 10 us
  uint8_t timeout;        // 14
  uint8_t retry_cnt;      // 7
  int sq_sig_all;         // 0
  struct ibv_srq *srq;    // of both
  bool events;            // the completion queue has a channel
};

// Opens the device and makes domain, completion queue and region.
struct bench *bench_open(const struct plan *plan);
struct ibv_qp *make_qp(struct bench *bench, const struct plan *plan);
int to_init(struct ibv_qp *qp, const struct plan *plan);
int to_rtr(struct bench *bench, struct ibv_qp *qp, const struct plan *plan, uint32_t peer);
int to_rts(struct ibv_qp *qp, const struct plan *plan);
int set_state(struct ibv_qp *qp, enum ibv_qp_state state);
enum ibv_qp_state state_of(struct ibv_qp *qp);
struct ibv_qp_attr query(struct ibv_qp *qp);
// Makes the two queue pairs and connects them (datagram ones are only made ready).
void connect_pair(struct bench *bench, const struct plan *plan);
// bench_open() and connect_pair().
struct bench *connected(const struct plan *plan);
struct ibv_ah_attr address_of(const struct bench *bench);

// -- requests

uint8_t *far_at(const struct bench *bench, size_t offset);  // in the upper half of the memory
uint64_t address(const void *at);
struct ibv_sge piece(const struct bench *bench, size_t offset, uint32_t length);
// A signaled request with wr_id 1 for `length` bytes from the start of the memory, to the start of its upper half.
struct ibv_send_wr request(const struct bench *bench, struct ibv_sge *sge, enum ibv_wr_opcode opcode, uint32_t length);
int post(struct ibv_qp *qp, struct ibv_send_wr *wr);
// A receive request with wr_id 100 for the upper half.
int post_receive(struct bench *bench, struct ibv_qp *qp, uint32_t length);
// request() and post(); fails the case if the post fails.
void transfer(struct bench *bench, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t length);

// -- results

// The next completion of the bench's queue; fails the case if none comes within five seconds.
struct ibv_wc completion(struct bench *bench);
struct ibv_wc completion_of(struct bench *bench, struct ibv_qp *qp);  // others are kept back
// Whether none comes for a while.
bool silent(struct bench *bench);
// Waits for an asynchronous event of that type, which it acknowledges; others are acknowledged and ignored.
bool saw_event(struct bench *bench, enum ibv_event_type type);
bool same_bytes(const struct bench *bench, size_t from, size_t to, size_t length);

// -- the verdict. A failed check ends the case.

#define CHECK(condition) ((condition) ? (void)0 : fail_case(__FILE__, __LINE__, "%s", #condition))
#define EQUAL(actual, expected)                                                                           \
  do {                                                                                                    \
    const long long actual_ = (long long)(actual), expected_ = (long long)(expected);                     \
    if (actual_ != expected_)                                                                             \
      fail_case(__FILE__, __LINE__, "%s is %lld, not %lld (%s)", #actual, actual_, expected_, #expected); \
  } while (0)
#define STATUS(wc, expected) expect_status(__FILE__, __LINE__, (wc).status, expected)
// Devices differ: passes with either, and says which. With --exact only the first passes, what the software NIC does.
#define EITHER(actual, first, second)                                                                    \
  do {                                                                                                   \
    const long long actual_ = (long long)(actual);                                                       \
    if (actual_ != (long long)(first) && (options.exact || actual_ != (long long)(second)))              \
      fail_case(__FILE__, __LINE__, "%s is %lld, neither %s nor %s", #actual, actual_, #first, #second); \
    note_case("%s: %s", #actual, actual_ == (long long)(first) ? #first : #second);                      \
  } while (0)

void fail_case(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void skip_case(const char *reason) __attribute__((noreturn));
void note_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
void expect_status(const char *file, int line, enum ibv_wc_status actual, enum ibv_wc_status expected);

struct test_case {
  const char *name;
  void (*run)(void);
};
struct test_group {
  const char *name;
  const struct test_case *cases;
  size_t count;
};
#define GROUP(identifier, title, list) \
  const struct test_group identifier = {title, list, sizeof(list) / sizeof((list)[0])}
