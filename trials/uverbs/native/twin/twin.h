// A C program that makes the same calls as a scenario in JavaScript, with the same arguments.
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scenario {
  const char *name;
  void (*run)(struct ibv_context *context);
};

extern const struct scenario device_scenarios[];
extern const struct scenario memory_scenarios[];
extern const struct scenario queue_scenarios[];
extern const struct scenario posting_scenarios[];
extern const struct scenario steering_scenarios[];
extern const struct scenario removal_scenarios[];
extern const struct scenario extended_scenarios[];

// Ends the program with a message when a call that must succeed did not.
#define REQUIRE(expression)                                   \
  do {                                                        \
    if (!(expression)) fail(#expression, __FILE__, __LINE__); \
  } while (0)
void fail(const char *expression, const char *file, int line);

// Writes a line to the emulated kernel, see control.cc.
void control(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A line about what the program itself saw; a scenario in JavaScript writes the same.
void saw(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Page-aligned memory of zeros.
void *pages(size_t size);

// A protection domain, a completion queue and an RC queue pair in RTS, as most scenarios need.
struct fixture {
  struct ibv_pd *pd;
  struct ibv_cq *cq;
  struct ibv_qp *qp;
  struct ibv_mr *mr;
  uint8_t *memory;
};
struct fixture make_fixture(struct ibv_context *context, enum ibv_qp_type type);
void drop_fixture(struct fixture *fixture);
void to_rts(struct ibv_qp *qp);
struct ibv_ah_attr address_vector(void);
