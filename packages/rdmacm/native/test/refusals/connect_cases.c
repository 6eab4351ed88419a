/* The active side, and the ends of a connection. */
#include "case.h"

static void idle(void) {
  struct rdma_conn_param param = parameters();
  TRY(rdma_connect(new_id(RDMA_PS_TCP), &param));
}

static void too_early(void) {
  struct rdma_conn_param param = parameters();
  TRY(rdma_connect(bound_id(RDMA_PS_TCP, own4(0)), &param));
  TRY(rdma_connect(listening_id(RDMA_PS_TCP, 0), &param));
  TRY(rdma_connect(address_resolved_id(RDMA_PS_TCP, 7000), &param));
}

static void no_id(void) { TRY(rdma_connect(NULL, NULL)); }

static void no_parameters(void) {
  struct rdma_cm_id *without = route_resolved_id(RDMA_PS_TCP, 7000), *with = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_connect(without, NULL));
  make_qp(with);
  TRY(rdma_connect(with, NULL));
}

static void nobody_listens(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct rdma_conn_param param = parameters();
  make_qp(id);
  TRY(rdma_connect(id, &param));
  struct rdma_cm_event *event = take(id);
  say("%d bytes of private data", event->param.conn.private_data_len);
  rdma_ack_cm_event(event);
  TRY(rdma_connect(id, &param));
  TRY(rdma_disconnect(id));
}

static void nobody_listens_datagram(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_UDP, 7000);
  struct rdma_conn_param param = parameters();
  make_qp(id);
  TRY(rdma_connect(id, &param));
  see(id);
}

static void other_port_space(void) {
  listening_id(RDMA_PS_UDP, 7000);
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct rdma_conn_param param = parameters();
  make_qp(id);
  TRY(rdma_connect(id, &param));
  see(id);
}

// Endpoints of two types, without queue pairs: not every adapter has all types. RDMA_PS_TCP is RC, whatever they say.
static void connect_to(enum ibv_qp_type listening, enum ibv_qp_type connecting, uint16_t port) {
  struct rdma_addrinfo passive = info(RAI_PASSIVE, own4(port), NULL), active = info(0, NULL, own4(port));
  passive.ai_port_space = active.ai_port_space = RDMA_PS_IB;
  passive.ai_qp_type = (int)listening;
  active.ai_qp_type = (int)connecting;
  struct rdma_cm_id *listener = NULL, *client = NULL;
  struct rdma_conn_param param = parameters();
  param.qp_num = 17;
  MUST(rdma_create_ep(&listener, &passive, NULL, NULL));
  MUST(rdma_listen(listener, 1));
  MUST(rdma_create_ep(&client, &active, NULL, NULL));
  TRY(rdma_connect(client, &param));
}

static void other_types(void) {
  connect_to(IBV_QPT_RC, IBV_QPT_UC, 7001);
  connect_to(IBV_QPT_RC, IBV_QPT_XRC_SEND, 7002);
  connect_to(IBV_QPT_UC, IBV_QPT_RC, 7003);
  connect_to(IBV_QPT_UC, IBV_QPT_XRC_SEND, 7004);
  connect_to(IBV_QPT_XRC_RECV, IBV_QPT_RC, 7005);
  connect_to(IBV_QPT_XRC_RECV, IBV_QPT_UC, 7006);
  connect_to(IBV_QPT_XRC_SEND, IBV_QPT_XRC_SEND, 7007);
}

static int connect_with(enum rdma_port_space ps, struct rdma_conn_param param) {
  struct rdma_cm_id *id = route_resolved_id(ps, 7000);
  make_qp(id);
  return rdma_connect(id, &param);
}

static void private_data(void) {
  TRY(connect_with(RDMA_PS_TCP, with_data(56)));
  TRY(connect_with(RDMA_PS_TCP, with_data(57)));
  TRY(connect_with(RDMA_PS_TCP, with_data(255)));
  TRY(connect_with(RDMA_PS_UDP, with_data(180)));
  TRY(connect_with(RDMA_PS_UDP, with_data(181)));
  TRY(connect_with(RDMA_PS_UDP, with_data(255)));
}

static void depths(void) {
  TRY(connect_with(RDMA_PS_TCP, with_depths(0, 0)));
  TRY(connect_with(RDMA_PS_TCP, with_depths(RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH)));
  TRY(connect_with(RDMA_PS_TCP, with_depths(254, 1)));
  TRY(connect_with(RDMA_PS_TCP, with_depths(1, 254)));
  TRY(connect_with(RDMA_PS_UDP, with_depths(254, 254)));
}

static void other_numbers(void) {
  struct rdma_conn_param param = parameters();
  param.retry_count = 255;
  param.rnr_retry_count = 255;
  param.flow_control = 255;
  TRY(connect_with(RDMA_PS_TCP, param));
}

static void twice(void) {
  struct ends ends = requested(RDMA_PS_TCP, 0);
  struct rdma_conn_param param = parameters();
  TRY(rdma_connect(ends.client, &param));
  TRY(rdma_connect(ends.server, &param));
}

static void connected_already(void) {
  struct ends ends = connected();
  struct rdma_conn_param param = parameters();
  TRY(rdma_connect(ends.client, &param));
  TRY(rdma_connect(ends.server, &param));
}

static void disconnect_states(void) {
  TRY(rdma_disconnect(new_id(RDMA_PS_TCP)));
  TRY(rdma_disconnect(bound_id(RDMA_PS_TCP, own4(0))));
  TRY(rdma_disconnect(listening_id(RDMA_PS_TCP, 0)));
  TRY(rdma_disconnect(address_resolved_id(RDMA_PS_TCP, 7000)));
  TRY(rdma_disconnect(route_resolved_id(RDMA_PS_TCP, 7000)));
  struct rdma_cm_id *with_qp = route_resolved_id(RDMA_PS_TCP, 7000);
  make_qp(with_qp);
  TRY(rdma_disconnect(with_qp));
}

static void disconnect_requests(void) {
  struct ends ends = requested(RDMA_PS_TCP, 1);
  TRY(rdma_disconnect(ends.client));
  TRY(rdma_disconnect(ends.server));
}

static void disconnect_datagram(void) {
  struct ends ends = requested(RDMA_PS_UDP, 1);
  TRY(rdma_disconnect(ends.client));
  TRY(rdma_disconnect(ends.server));
}

static void disconnect_twice(void) {
  struct ends ends = connected();
  TRY(rdma_disconnect(ends.client));
  see(ends.listener);
  TRY(rdma_disconnect(ends.server));
  see(ends.client);
  TRY(rdma_disconnect(ends.client));
  TRY(rdma_disconnect(ends.server));
}

static void disconnect_no_id(void) { TRY(rdma_disconnect(NULL)); }

static void establish(void) {
  TRY(rdma_establish(new_id(RDMA_PS_TCP)));
  TRY(rdma_establish(route_resolved_id(RDMA_PS_TCP, 7000)));
  struct ends ends = connected();
  TRY(rdma_establish(ends.client));
  TRY(rdma_establish(ends.server));
}

static void establish_no_id(void) { TRY(rdma_establish(NULL)); }

/* Without queue pairs of the library the program confirms the reply itself. */
static void establish_itself(void) {
  struct rdma_cm_id *listener = listening_id(RDMA_PS_TCP, 7471), *client = route_resolved_id(RDMA_PS_TCP, 7471);
  struct rdma_conn_param param = parameters();
  param.qp_num = 5;
  TRY(rdma_connect(client, &param));
  struct rdma_cm_event *event = take(listener);
  struct rdma_cm_id *server = event->id;
  rdma_ack_cm_event(event);
  param.qp_num = 6;
  TRY(rdma_accept(server, &param));
  see(client);
  TRY(rdma_establish(client));
  see(listener);
  TRY(rdma_establish(client));
  TRY(rdma_establish(server));
}

/* The kernel rejects the request then, which has no number of the peer yet: nobody hears of it. */
static void establish_early(void) {
  struct ends ends = requested(RDMA_PS_TCP, 0);
  rdma_destroy_qp(ends.client);
  TRY(rdma_establish(ends.client));
}

static void notify(void) {
  TRY(rdma_notify(new_id(RDMA_PS_TCP), IBV_EVENT_COMM_EST));
  TRY(rdma_notify(listening_id(RDMA_PS_TCP, 0), IBV_EVENT_COMM_EST));
  TRY(rdma_notify(route_resolved_id(RDMA_PS_TCP, 7000), IBV_EVENT_COMM_EST));
  struct ends ends = connected();
  TRY(rdma_notify(ends.client, IBV_EVENT_COMM_EST));
  TRY(rdma_notify(ends.server, IBV_EVENT_COMM_EST));
  TRY(rdma_notify(ends.server, IBV_EVENT_SQ_DRAINED));
  TRY(rdma_notify(ends.server, 99));
}

static void notify_datagram(void) {
  struct ends ends = requested(RDMA_PS_UDP, 1);
  TRY(rdma_notify(ends.client, IBV_EVENT_COMM_EST));
  TRY(rdma_notify(ends.server, IBV_EVENT_SQ_DRAINED));
}

const struct test_case connect_cases[] = {
    {"connect: an idle identifier", idle},
    {"connect: too early", too_early},
    {"connect: no identifier", no_id},
    {"connect: no parameters", no_parameters},
    {"connect: nobody listens", nobody_listens},
    {"connect: nobody listens for datagrams", nobody_listens_datagram},
    {"connect: a service of another port space", other_port_space},
    {"connect: a service with queue pairs of another type", other_types},
    {"connect: sizes of private data", private_data},
    {"connect: depths", depths},
    {"connect: other parameters that are too large", other_numbers},
    {"connect: in a wrong state", twice},
    {"connect: a connected identifier", connected_already},
    {"disconnect: in a wrong state", disconnect_states},
    {"disconnect: a request that waits", disconnect_requests},
    {"disconnect: datagrams", disconnect_datagram},
    {"disconnect: twice", disconnect_twice},
    {"disconnect: no identifier", disconnect_no_id},
    {"establish: in a wrong state", establish},
    {"establish: no identifier", establish_no_id},
    {"establish: by the program", establish_itself},
    {"establish: before the reply", establish_early},
    {"notify: states and events", notify},
    {"notify: datagrams", notify_datagram},
    {0},
};
