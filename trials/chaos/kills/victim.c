// A program that goes through a connection of librdmacm up to a step, says so, and waits there to be killed:
// victim connect ADDRESS PORT STEP NUMBER, or victim listen STEP NUMBER.
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct rdma_event_channel *channel;
static const char *last;  // the step to stop at; "any": goes on and on
static uint32_t number;

static void must(int result, const char *what) {
  if (result == 0) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static void at(const char *step) {
  if (strcmp(step, last) != 0) return;
  printf("at %s\n", step);
  fflush(stdout);
  for (;;) pause();
}

// The identifier of the next event, which has to be of this type.
static struct rdma_cm_id *expect(enum rdma_cm_event_type type) {
  struct rdma_cm_event *event;
  must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
  if (event->event != type) {
    fprintf(stderr, "%s, status %d, instead of %s\n", rdma_event_str(event->event), event->status,
            rdma_event_str(type));
    exit(1);
  }
  struct rdma_cm_id *id = event->id;
  must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
  return id;
}

static void make_queue_pair(struct rdma_cm_id *id) {
  struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
  must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

static struct rdma_conn_param parameters(void) {
  return (struct rdma_conn_param){.private_data = &number,
                                  .private_data_len = sizeof number,
                                  .responder_resources = 1,
                                  .initiator_depth = 1,
                                  .retry_count = 7,
                                  .rnr_retry_count = 7};
}

static void end(struct rdma_cm_id *id) {
  if (id->qp) rdma_destroy_qp(id);
  must(rdma_destroy_id(id), "rdma_destroy_id");
}

static void connect_to(const char *address, const char *port) {
  struct addrinfo *to;
  if (getaddrinfo(address, port, NULL, &to) != 0) exit(1);
  struct rdma_cm_id *id;
  must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_resolve_addr(id, NULL, to->ai_addr, 2000), "rdma_resolve_addr");
  freeaddrinfo(to);
  expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  at("resolved");
  must(rdma_resolve_route(id, 2000), "rdma_resolve_route");
  expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
  // The program confirms the reply itself if the library has no queue pair to do it with.
  const bool confirms = strcmp(last, "response") == 0;
  if (!confirms) make_queue_pair(id);
  struct rdma_conn_param param = parameters();
  param.qp_num = 0x123;
  must(rdma_connect(id, &param), "rdma_connect");
  at("requesting");
  expect(confirms ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED);
  at("response");
  at("established");
  must(rdma_disconnect(id), "rdma_disconnect");
  at("disconnecting");
  expect(RDMA_CM_EVENT_DISCONNECTED);
  at("disconnected");
  end(id);
}

static void serve(void) {
  struct rdma_cm_id *id = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
  at("requested");
  make_queue_pair(id);
  struct rdma_conn_param param = parameters();
  must(rdma_accept(id, &param), "rdma_accept");
  at("accepted");
  expect(RDMA_CM_EVENT_ESTABLISHED);
  at("established");
  must(rdma_disconnect(id), "rdma_disconnect");
  at("disconnecting");
  expect(RDMA_CM_EVENT_DISCONNECTED);
  at("disconnected");
  end(id);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const bool connects = strcmp(argv[1], "connect") == 0;
  last = argv[connects ? 4 : 2];
  number = (uint32_t)strtoul(argv[connects ? 5 : 3], NULL, 10);
  channel = rdma_create_event_channel();
  if (!channel) must(-1, "rdma_create_event_channel");
  const bool forever = strcmp(last, "any") == 0;
  if (connects) {
    if (forever) puts("at any"), fflush(stdout);
    do connect_to(argv[2], argv[3]);
    while (forever);
    return 0;
  }
  struct rdma_cm_id *listener;
  must(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
  // Its own address: another process may listen at the same port of another one.
  int count = 0;
  struct ibv_context **devices = rdma_get_devices(&count);
  union ibv_gid gid;
  if (!devices || count == 0) must(-1, "rdma_get_devices");
  must(ibv_query_gid(devices[0], 1, 0, &gid), "ibv_query_gid");
  struct sockaddr_in address = {.sin_family = AF_INET};
  memcpy(&address.sin_addr, gid.raw + 12, 4);
  must(rdma_bind_addr(listener, (struct sockaddr *)&address), "rdma_bind_addr");
  must(rdma_listen(listener, 8), "rdma_listen");
  printf("listening %u.%u.%u.%u %u\n", gid.raw[12], gid.raw[13], gid.raw[14], gid.raw[15],
         ntohs(rdma_get_src_port(listener)));
  fflush(stdout);
  at("listening");
  if (forever) puts("at any"), fflush(stdout);
  do serve();
  while (forever);
  return 0;
}
