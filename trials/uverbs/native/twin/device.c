#include "twin/twin.h"

static void open_and_close(struct ibv_context *context) { (void)context; }

static void queries(struct ibv_context *context) {
  struct ibv_device_attr device;
  REQUIRE(ibv_query_device(context, &device) == 0);
  struct ibv_device_attr_ex extended;
  REQUIRE(ibv_query_device_ex(context, NULL, &extended) == 0);
  struct ibv_port_attr port;
  REQUIRE(ibv_query_port(context, 1, &port) == 0);
  union ibv_gid gid;
  REQUIRE(ibv_query_gid(context, 1, 3, &gid) == 0);
  struct ibv_gid_entry entry;
  REQUIRE(ibv_query_gid_ex(context, 1, 2, &entry, 0) == 0);
  uint16_t pkey;
  REQUIRE(ibv_query_pkey(context, 1, 0, &pkey) == 0);
}

static void port_event(struct ibv_context *context) {
  control("event 10 1");  // IBV_EVENT_PORT_ERR
  struct ibv_async_event event;
  REQUIRE(ibv_get_async_event(context, &event) == 0);
  saw("event %d of port %d", event.event_type, event.element.port_num);
  ibv_ack_async_event(&event);
}

static void queue_events(struct ibv_context *context) {
  struct fixture fixture = make_fixture(context, IBV_QPT_RC);
  control("event-of qp 1");  // IBV_EVENT_QP_FATAL
  control("event-of cq 0");  // IBV_EVENT_CQ_ERR
  struct ibv_async_event event;
  REQUIRE(ibv_get_async_event(context, &event) == 0);
  saw("event %d of the queue pair: %d", event.event_type, event.element.qp == fixture.qp);
  ibv_ack_async_event(&event);
  REQUIRE(ibv_get_async_event(context, &event) == 0);
  saw("event %d of the completion queue: %d", event.event_type, event.element.cq == fixture.cq);
  ibv_ack_async_event(&event);
  drop_fixture(&fixture);
}

const struct scenario device_scenarios[] = {
    {"open-and-close", open_and_close}, {"queries", queries}, {"port-event", port_event},
    {"queue-events", queue_events},     {NULL, NULL},
};
