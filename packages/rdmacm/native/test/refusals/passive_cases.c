/* The passive side: listening, accepting and rejecting. */
#include <limits.h>

#include "case.h"

static void listen_states(void) {
  struct rdma_cm_id *idle = new_id(RDMA_PS_TCP), *bound = bound_id(RDMA_PS_TCP, own4(0));
  TRY(rdma_listen(idle, 1));
  say("%s", rdma_get_src_port(idle) ? "it has a port" : "it has no port");
  TRY(rdma_listen(bound, 1));
  TRY(rdma_listen(bound, 1));
  TRY(rdma_listen(address_resolved_id(RDMA_PS_TCP, 7000), 1));
  TRY(rdma_listen(route_resolved_id(RDMA_PS_TCP, 7000), 1));
  struct ends ends = connected();
  TRY(rdma_listen(ends.client, 1));
  TRY(rdma_listen(ends.server, 1));
}

static void listen_no_id(void) { TRY(rdma_listen(NULL, 1)); }

static void listen_backlogs(void) {
  TRY(rdma_listen(bound_id(RDMA_PS_TCP, own4(0)), 0));
  TRY(rdma_listen(bound_id(RDMA_PS_TCP, own4(0)), -1));
  TRY(rdma_listen(bound_id(RDMA_PS_TCP, own4(0)), INT_MAX));
  TRY(rdma_listen(bound_id(RDMA_PS_TCP, own4(0)), INT_MIN));
  TRY(rdma_listen(bound_id(RDMA_PS_UDP, own4(0)), 0));
  TRY(rdma_listen(bound_id(RDMA_PS_TCP, ipv6("::", 0)), 1));
}

static void accept_idle(void) {
  struct rdma_conn_param param = parameters();
  TRY(rdma_accept(new_id(RDMA_PS_TCP), &param));
}

static void accept_states(void) {
  struct rdma_conn_param param = parameters();
  TRY(rdma_accept(bound_id(RDMA_PS_TCP, own4(0)), &param));
  TRY(rdma_accept(listening_id(RDMA_PS_TCP, 0), &param));
  TRY(rdma_accept(route_resolved_id(RDMA_PS_TCP, 7000), &param));
  struct ends ends = requested(RDMA_PS_TCP, 1);
  TRY(rdma_accept(ends.client, &param));
}

static void accept_no_id(void) { TRY(rdma_accept(NULL, NULL)); }

static void accept_without_parameters(void) {
  struct ends ends = requested(RDMA_PS_TCP, 0);
  TRY(rdma_accept(ends.server, NULL));
}

static void accept_by_default(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  TRY(rdma_accept(ends.server, NULL));
  see(ends.client);
}

static void accept_twice(void) {
  struct ends ends = connected();
  struct rdma_conn_param param = parameters();
  TRY(rdma_accept(ends.server, &param));
  TRY(rdma_reject(ends.server, NULL, 0));
  TRY(rdma_reject(ends.client, NULL, 0));
}

static int accept_with(enum rdma_port_space ps, struct rdma_conn_param param) {
  struct ends ends = requested(ps, 1);
  const int result = rdma_accept(ends.server, &param);
  rdma_destroy_qp(ends.server);
  rdma_destroy_id(ends.server);
  rdma_destroy_id(ends.listener);
  return result;
}

static void accept_data(void) {
  TRY(accept_with(RDMA_PS_TCP, with_data(196)));
  TRY(accept_with(RDMA_PS_UDP, with_data(136)));
}

static void accept_data_too_long(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  struct rdma_conn_param param = with_data(197), good = parameters();
  TRY(rdma_accept(ends.server, &param));
  see(ends.client);
  TRY(rdma_accept(ends.server, &good));
}

static void accept_data_too_long_datagram(void) {
  struct ends ends = requested(RDMA_PS_UDP, 1);
  struct rdma_conn_param param = with_data(137);
  TRY(rdma_accept(ends.server, &param));
  see(ends.client);
}

static void accept_depths(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  struct rdma_conn_param large = with_depths(254, 1), deep = with_depths(1, 254), good = parameters();
  TRY(rdma_accept(ends.server, &large));
  TRY(rdma_accept(ends.server, &deep));
  TRY(rdma_accept(ends.server, &good));
}

static void accept_rejected(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  struct rdma_conn_param param = parameters();
  TRY(rdma_reject(ends.server, NULL, 0));
  TRY(rdma_accept(ends.server, &param));
  TRY(rdma_reject(ends.server, NULL, 0));
}

static void reject_states(void) {
  TRY(rdma_reject(new_id(RDMA_PS_TCP), NULL, 0));
  TRY(rdma_reject(bound_id(RDMA_PS_TCP, own4(0)), NULL, 0));
  TRY(rdma_reject(listening_id(RDMA_PS_TCP, 0), NULL, 0));
  TRY(rdma_reject(address_resolved_id(RDMA_PS_TCP, 7000), NULL, 0));
  TRY(rdma_reject(route_resolved_id(RDMA_PS_TCP, 7000), NULL, 0));
  TRY(rdma_reject(requested(RDMA_PS_TCP, 1).client, NULL, 0));
}

static void reject_no_id(void) { TRY(rdma_reject(NULL, NULL, 0)); }

static void reject_data(void) {
  static const char data[256] = "no";
  struct ends ends = requested(RDMA_PS_TCP, 0);
  TRY(rdma_reject(ends.server, data, 149));
  TRY(rdma_reject(ends.server, data, 148));
  struct rdma_cm_event *event = take(ends.client);
  say("%d bytes: %.2s", event->param.conn.private_data_len, (const char *)event->param.conn.private_data);
  rdma_ack_cm_event(event);
}

static void reject_no_data(void) {
  struct ends ends = requested(RDMA_PS_TCP, 0);
  TRY(rdma_reject(ends.server, NULL, 5));
}

static void reject_datagram(void) {
  static const char data[256] = "no";
  struct ends ends = requested(RDMA_PS_UDP, 0);
  TRY(rdma_reject(ends.server, data, 137));
  TRY(rdma_reject(ends.server, data, 136));
  see(ends.client);
}

static void reject_new_reply(void) {
  struct rdma_cm_id *listener = listening_id(RDMA_PS_TCP, 7471), *client = route_resolved_id(RDMA_PS_TCP, 7471);
  struct rdma_conn_param param = parameters();
  param.qp_num = 5;
  MUST(rdma_connect(client, &param));
  struct rdma_cm_event *event = take(listener);
  param.qp_num = 6;
  TRY(rdma_accept(event->id, &param));
  rdma_ack_cm_event(event);
  see(client);
  TRY(rdma_reject(client, "late", 4));
  see(listener);
}

static void reject_own_request(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  struct rdma_conn_param param = parameters();
  TRY(rdma_reject(ends.client, NULL, 0));
  TRY(rdma_accept(ends.server, &param));
}

static void destroyed_requests(void) {
  struct ends ends = requested(RDMA_PS_TCP, 0);
  TRY(rdma_destroy_id(ends.server));
  see(ends.client);
}

static void gone_listener(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  struct rdma_conn_param param = parameters();
  TRY(rdma_destroy_id(ends.listener));
  TRY(rdma_accept(ends.server, &param));
  see(ends.client);
}

const struct test_case passive_cases[] = {
    {"listen: in each state", listen_states},
    {"listen: no identifier", listen_no_id},
    {"listen: backlogs", listen_backlogs},
    {"accept: an idle identifier", accept_idle},
    {"accept: in a wrong state", accept_states},
    {"accept: no identifier", accept_no_id},
    {"accept: no parameters and no queue pair", accept_without_parameters},
    {"accept: no parameters", accept_by_default},
    {"accept: twice, and reject after accept", accept_twice},
    {"accept: private data", accept_data},
    {"accept: too much private data", accept_data_too_long},
    {"accept: too much private data for a datagram", accept_data_too_long_datagram},
    {"accept: depths", accept_depths},
    {"accept: a rejected request", accept_rejected},
    {"reject: in a wrong state", reject_states},
    {"reject: no identifier", reject_no_id},
    {"reject: private data", reject_data},
    {"reject: a length without data", reject_no_data},
    {"reject: a datagram's request", reject_datagram},
    {"reject: a reply", reject_new_reply},
    {"reject: the request of the identifier itself", reject_own_request},
    {"destroy id: a request that waits", destroyed_requests},
    {"destroy id: the listener of a request that waits", gone_listener},
    {0},
};
