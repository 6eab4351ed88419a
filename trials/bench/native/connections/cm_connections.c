// Connections of the connection manager: how fast one process opens them to another one. At most -w of the -n are open
// at a time; each of the others is closed first. Neither process polls, both sleep until there is an event.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "connections/connections.h"
#include "fail.h"
#include "options.h"
#include "peer.h"
#include "result.h"

static struct rdma_event_channel* channel;
static struct ibv_cq* cq;  // of all queue pairs of the process

static void must(int result, const char* what) {
  if (result != 0) fail_with(errno, what);
}

static void make_queue_pair(struct rdma_cm_id* id) {
  if (!cq) cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
  if (!cq) fail_with(errno, "ibv_create_cq");
  struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {1, 1, 1, 1, 0}};
  must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

static struct rdma_conn_param parameters(void) {
  return (struct rdma_conn_param){
      .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
}

// Takes the next event and gives its type.
static enum rdma_cm_event_type next(struct rdma_cm_id** id) {
  struct rdma_cm_event* event;
  must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
  const enum rdma_cm_event_type type = event->event;
  const int status = event->status;
  *id = event->id;
  must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
  if (status != 0) fail("%s: status %d", rdma_event_str(type), status);
  return type;
}

static void end(struct rdma_cm_id* id) {
  rdma_destroy_qp(id);
  must(rdma_destroy_id(id), "rdma_destroy_id");
}

static void start(const struct sockaddr_in* server) {
  struct rdma_cm_id* id;
  must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_resolve_addr(id, NULL, (struct sockaddr*)server, 2000), "rdma_resolve_addr");
}

static void take(struct rdma_cm_id* id, enum rdma_cm_event_type type, struct connections* connections) {
  struct rdma_conn_param param = parameters();
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      must(rdma_resolve_route(id, 2000), "rdma_resolve_route");
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      make_queue_pair(id);
      must(rdma_connect(id, &param), "rdma_connect");
      break;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      make_queue_pair(id);
      must(rdma_accept(id, &param), "rdma_accept");
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      if (established(connections)) must(rdma_disconnect(id), "rdma_disconnect");
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      end(id);
      closed(connections);
      break;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      break;
    default:
      fail("%s", rdma_event_str(type));
  }
}

static struct sockaddr_in listen_at(void) {
  int count = 0;
  union ibv_gid gid;
  struct ibv_context** devices = rdma_get_devices(&count);
  if (!devices || count == 0) fail("there is no RDMA device");
  must(ibv_query_gid(devices[0], 1, 0, &gid), "ibv_query_gid");
  struct sockaddr_in address = {.sin_family = AF_INET};
  memcpy(&address.sin_addr, gid.raw + 12, sizeof address.sin_addr);
  struct rdma_cm_id* listener;
  must(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_bind_addr(listener, (struct sockaddr*)&address), "rdma_bind_addr");
  must(rdma_listen(listener, 1024), "rdma_listen");
  address.sin_port = rdma_get_src_port(listener);
  return address;
}

int main(int argc, char** argv) {
  struct options options = {.count = 1000, .window = 32};
  parse_options(argc, argv, &options);
  struct peer peer;
  peer_start(&peer);
  channel = rdma_create_event_channel();
  if (!channel) fail_with(errno, "rdma_create_event_channel");
  struct sockaddr_in mine = {0}, server;
  if (peer.is_server) mine = listen_at();
  peer_swap(&peer, &mine, &server, sizeof mine);
  struct connections connections = {.count = options.count, .window = options.window, .is_server = peer.is_server};
  const uint64_t begin = now_ns();
  while (!all_established(&connections)) {
    while (!peer.is_server && may_start(&connections)) start(&server);
    struct rdma_cm_id* id;
    const enum rdma_cm_event_type type = next(&id);
    take(id, type, &connections);
  }
  if (!peer.is_server) print_connections(options.count, now_ns() - begin);
  peer_meet(&peer);
  peer_finish(&peer);
}
