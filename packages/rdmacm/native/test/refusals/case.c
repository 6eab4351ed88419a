#include "case.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds in which an event must come: a busy machine may give the process no time for a while. */
enum { kPatience = 60000 };

/* The call's name goes out before the call: should it crash, the line tells which one it was. */
void begin(const char *call) {
  printf("  %s -> ", call);
  fflush(stdout);
  errno = 0;
}

static const char *error_name(int error) {
  const char *name = strerrorname_np(error);
  return name ? name : "no error";
}

void finish(int result) {
  if (result == -1) {
    printf("%s\n", error_name(errno));
  } else if (result > 0 && strerrorname_np(result)) {
    printf("returns the number of %s\n", error_name(result));
  } else {
    printf("%d\n", result);
  }
}

void finish_pointer(const void *result) { printf("%s\n", result ? "a pointer" : error_name(errno)); }

void finish_void(void) { printf("returns\n"); }

void must(const char *call, int result) {
  if (result == 0) return;
  printf("  cannot be prepared: %s: %s\n", call, error_name(errno));
  exit(0);
}

void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("  ");
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
}

struct rdma_event_channel *channel(void) {
  struct rdma_event_channel *made = rdma_create_event_channel();
  MUST(made ? 0 : -1);
  return made;
}

struct rdma_cm_id *new_id(enum rdma_port_space ps) {
  struct rdma_cm_id *id = NULL;
  MUST(rdma_create_id(channel(), &id, NULL, ps));
  return id;
}

struct rdma_cm_id *bound_id(enum rdma_port_space ps, struct sockaddr *address) {
  struct rdma_cm_id *id = new_id(ps);
  MUST(rdma_bind_addr(id, address));
  return id;
}

struct rdma_cm_id *listening_id(enum rdma_port_space ps, uint16_t port) {
  struct rdma_cm_id *id = bound_id(ps, own4(port));
  MUST(rdma_listen(id, 8));
  return id;
}

struct rdma_cm_id *address_resolved_id(enum rdma_port_space ps, uint16_t port) {
  struct rdma_cm_id *id = new_id(ps);
  MUST(rdma_resolve_addr(id, NULL, own4(port), 5000));
  pass(id, RDMA_CM_EVENT_ADDR_RESOLVED);
  return id;
}

struct rdma_cm_id *route_resolved_id(enum rdma_port_space ps, uint16_t port) {
  struct rdma_cm_id *id = address_resolved_id(ps, port);
  MUST(rdma_resolve_route(id, 5000));
  pass(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return id;
}

struct ibv_qp_init_attr qp_attr(const struct rdma_cm_id *id) {
  return (struct ibv_qp_init_attr){
      .qp_type = id->qp_type,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
  };
}

void make_qp(struct rdma_cm_id *id) {
  struct ibv_qp_init_attr attr = qp_attr(id);
  MUST(rdma_create_qp(id, NULL, &attr));
}

static struct rdma_cm_event *next_event(struct rdma_cm_id *id) {
  struct pollfd ready = {.fd = id->channel->fd, .events = POLLIN};
  struct rdma_cm_event *event = NULL;
  if (poll(&ready, 1, kPatience) == 1) MUST(rdma_get_cm_event(id->channel, &event));
  return event;
}

struct rdma_cm_event *take(struct rdma_cm_id *id) {
  struct rdma_cm_event *event = next_event(id);
  if (!event) {
    say("no event");
    exit(0);
  }
  say("event %s, status %d", rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"), event->status);
  return event;
}

struct rdma_cm_event *expect(struct rdma_cm_id *id, enum rdma_cm_event_type type) {
  struct rdma_cm_event *event = next_event(id);
  if (event && event->event == type) return event;
  say("cannot be prepared: %s instead of %s", event ? rdma_event_str(event->event) : "no event", rdma_event_str(type));
  exit(0);
}

void see(struct rdma_cm_id *id) { rdma_ack_cm_event(take(id)); }

void pass(struct rdma_cm_id *id, enum rdma_cm_event_type type) { rdma_ack_cm_event(expect(id, type)); }

struct rdma_conn_param parameters(void) {
  return (struct rdma_conn_param){
      .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
}

struct rdma_conn_param with_data(uint8_t length) {
  static const char data[256];
  struct rdma_conn_param made = parameters();
  made.private_data = data;
  made.private_data_len = length;
  return made;
}

struct rdma_conn_param with_depths(uint8_t resources, uint8_t depth) {
  struct rdma_conn_param made = parameters();
  made.responder_resources = resources;
  made.initiator_depth = depth;
  return made;
}

struct rdma_addrinfo info(int flags, struct sockaddr *source, struct sockaddr *destination) {
  return (struct rdma_addrinfo){
      .ai_flags = flags,
      .ai_family = AF_INET,
      .ai_qp_type = IBV_QPT_RC,
      .ai_port_space = RDMA_PS_TCP,
      .ai_src_len = source ? sizeof(struct sockaddr_in) : 0,
      .ai_src_addr = source,
      .ai_dst_len = destination ? sizeof(struct sockaddr_in) : 0,
      .ai_dst_addr = destination,
  };
}

struct ends requested(enum rdma_port_space ps, int qps) {
  enum { kPort = 7471 };
  struct rdma_conn_param param = parameters();
  struct ends ends = {.listener = listening_id(ps, kPort), .client = route_resolved_id(ps, kPort)};
  make_qp(ends.client);
  MUST(rdma_connect(ends.client, &param));
  struct rdma_cm_event *event = expect(ends.listener, RDMA_CM_EVENT_CONNECT_REQUEST);
  ends.server = event->id;
  MUST(rdma_ack_cm_event(event));
  if (qps) make_qp(ends.server);
  return ends;
}

struct ends connected(void) {
  struct rdma_conn_param param = parameters();
  struct ends ends = requested(RDMA_PS_TCP, 1);
  MUST(rdma_accept(ends.server, &param));
  pass(ends.client, RDMA_CM_EVENT_ESTABLISHED);
  pass(ends.listener, RDMA_CM_EVENT_ESTABLISHED);
  return ends;
}
