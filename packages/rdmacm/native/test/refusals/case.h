/*
 * A case of the refusals: calls of librdmacm, each with its result as one line of text. It runs in a process of its
 * own, so that a crash is a result too. Nothing here depends on the library being ours.
 */
#ifndef REFUSALS_CASE_H
#define REFUSALS_CASE_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

struct test_case {
  const char *name;
  void (*run)(void);
};

/* Ends with an entry without a name. */
extern const struct test_case channel_cases[], address_cases[], connect_cases[], passive_cases[], queue_cases[],
    option_cases[], multicast_cases[], endpoint_cases[], ece_cases[];

/* A call that returns 0, or -1 and errno, or another number; one that gives a pointer; one that gives nothing. */
#define TRY(...)         \
  do {                   \
    begin(#__VA_ARGS__); \
    finish(__VA_ARGS__); \
  } while (0)
#define TRY_POINTER(...)         \
  do {                           \
    begin(#__VA_ARGS__);         \
    finish_pointer(__VA_ARGS__); \
  } while (0)
#define TRY_VOID(...)    \
  do {                   \
    begin(#__VA_ARGS__); \
    __VA_ARGS__;         \
    finish_void();       \
  } while (0)
/* What a case needs before its point. A failure ends it. */
#define MUST(...) must(#__VA_ARGS__, __VA_ARGS__)

void begin(const char *call);
void finish(int result);
void finish_pointer(const void *result);
void finish_void(void);
void must(const char *call, int result);
/* A line of the case's own. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Addresses of the device (the program's arguments), of nobody, and of a family that is none of IP. The results stay
 * valid for some calls. */
void set_own(const char *ipv4, const char *ipv6);
struct sockaddr *ipv4(const char *text, uint16_t port);
struct sockaddr *ipv6(const char *text, uint16_t port);
struct sockaddr *own4(uint16_t port);
struct sockaddr *own6(uint16_t port);
struct sockaddr *foreign4(uint16_t port);
struct sockaddr *foreign6(uint16_t port);
struct sockaddr *group4(void);
struct sockaddr *no_ip(void);

/* What rdma_getaddrinfo() gives for RC connections. */
struct rdma_addrinfo info(int flags, struct sockaddr *source, struct sockaddr *destination);

struct rdma_event_channel *channel(void);
struct rdma_cm_id *new_id(enum rdma_port_space ps);
struct rdma_cm_id *bound_id(enum rdma_port_space ps, struct sockaddr *address);
struct rdma_cm_id *listening_id(enum rdma_port_space ps, uint16_t port);
/* To the service at that port of our own address. */
struct rdma_cm_id *address_resolved_id(enum rdma_port_space ps, uint16_t port);
struct rdma_cm_id *route_resolved_id(enum rdma_port_space ps, uint16_t port);
void make_qp(struct rdma_cm_id *id);
struct ibv_qp_init_attr qp_attr(const struct rdma_cm_id *id);

/* The next event: `take` tells of it as a line, `expect` ends the case if it is another. */
struct rdma_cm_event *take(struct rdma_cm_id *id);
struct rdma_cm_event *expect(struct rdma_cm_id *id, enum rdma_cm_event_type type);
/* The same, acknowledged. */
void see(struct rdma_cm_id *id);
void pass(struct rdma_cm_id *id, enum rdma_cm_event_type type);

/* Two ends in one process, each with a channel of its own. */
struct ends {
  struct rdma_cm_id *listener, *client, *server;
};
struct rdma_conn_param parameters(void);
struct rdma_conn_param with_data(uint8_t length);
struct rdma_conn_param with_depths(uint8_t resources, uint8_t depth);
/* A request that waits for accept or reject; both ends have queue pairs if `qps`. */
struct ends requested(enum rdma_port_space ps, int qps);
struct ends connected(void);

#endif
