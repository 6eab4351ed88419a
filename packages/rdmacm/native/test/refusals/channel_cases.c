/* Event channels, events and identifiers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "case.h"

static void no_channel(void) {
  struct rdma_cm_event *event;
  TRY(rdma_get_cm_event(NULL, &event));
}

static void no_place_for_event(void) {
  struct rdma_event_channel *own = channel();
  TRY(rdma_get_cm_event(own, NULL));
}

static void empty_channel(void) {
  struct rdma_event_channel *own = channel();
  struct rdma_cm_event *event;
  fcntl(own->fd, F_SETFL, fcntl(own->fd, F_GETFL) | O_NONBLOCK);
  TRY(rdma_get_cm_event(own, &event));
}

static void closed_descriptor(void) {
  struct rdma_event_channel *own = channel();
  struct rdma_cm_event *event;
  close(own->fd);
  TRY(rdma_get_cm_event(own, &event));
}

static void no_event(void) { TRY(rdma_ack_cm_event(NULL)); }

/* The program's error: the event is freed. */
static void event_twice(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  MUST(rdma_resolve_addr(id, NULL, own4(7000), 5000));
  struct rdma_cm_event *event = take(id);
  TRY(rdma_ack_cm_event(event));
  TRY(rdma_ack_cm_event(event));
}

static void destroy_no_channel(void) { TRY_VOID(rdma_destroy_event_channel(NULL)); }

/* The program's error: the identifier still refers to it. */
static void destroy_used_channel(void) {
  struct rdma_cm_id *id = bound_id(RDMA_PS_TCP, own4(0));
  struct rdma_event_channel *next = channel();
  TRY_VOID(rdma_destroy_event_channel(id->channel));
  TRY(rdma_destroy_id(id));
  TRY_VOID(rdma_destroy_event_channel(next));
}

static void id_without_place(void) {
  struct rdma_event_channel *own = channel();
  TRY(rdma_create_id(own, NULL, NULL, RDMA_PS_TCP));
}

static void id_port_spaces(void) {
  struct rdma_event_channel *own = channel();
  struct rdma_cm_id *id;
  TRY(rdma_create_id(own, &id, NULL, RDMA_PS_TCP));
  TRY(rdma_create_id(own, &id, NULL, RDMA_PS_UDP));
  TRY(rdma_create_id(own, &id, NULL, RDMA_PS_IPOIB));
  TRY(rdma_create_id(own, &id, NULL, RDMA_PS_IB));
  TRY(rdma_create_id(own, &id, NULL, 0));
  TRY(rdma_create_id(own, &id, NULL, 0x107));
  TRY(rdma_create_id(NULL, &id, NULL, 0x107));
  TRY(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
}

static void destroy_no_id(void) { TRY(rdma_destroy_id(NULL)); }

static void destroy_each_state(void) {
  struct rdma_cm_id *idle = new_id(RDMA_PS_TCP);
  struct rdma_cm_id *bound = bound_id(RDMA_PS_TCP, own4(0));
  struct rdma_cm_id *listening = listening_id(RDMA_PS_TCP, 0);
  struct rdma_cm_id *resolved = route_resolved_id(RDMA_PS_TCP, 7000);
  struct ends ends = connected();
  TRY(rdma_destroy_id(idle));
  TRY(rdma_destroy_id(bound));
  TRY(rdma_destroy_id(listening));
  TRY(rdma_destroy_id(resolved));
  rdma_destroy_qp(ends.client);
  TRY(rdma_destroy_id(ends.client));
  rdma_destroy_qp(ends.server);
  TRY(rdma_destroy_id(ends.server));
  TRY(rdma_destroy_id(ends.listener));
}

static atomic_int acknowledged;

static void *destroy_it(void *id) {
  rdma_destroy_id(id);
  return (void *)(uintptr_t)atomic_load(&acknowledged);
}

/* rdma_destroy_id() waits for the acknowledgement. */
static void destroy_with_event(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  MUST(rdma_resolve_addr(id, NULL, own4(7000), 5000));
  struct rdma_cm_event *event = take(id);
  pthread_t thread;
  void *waited = NULL;
  MUST(pthread_create(&thread, NULL, destroy_it, id));
  usleep(50000);
  atomic_store(&acknowledged, 1);
  TRY(rdma_ack_cm_event(event));
  pthread_join(thread, &waited);
  say("rdma_destroy_id() %s", waited ? "waited for it" : "did not wait");
}

static void migrate(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  struct rdma_event_channel *other = channel();
  TRY(rdma_migrate_id(id, other));
  TRY(rdma_migrate_id(id, id->channel));
  TRY(rdma_migrate_id(id, NULL));
  TRY(rdma_migrate_id(id, other));
}

static void migrate_with_event(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  struct rdma_event_channel *other = channel();
  MUST(rdma_resolve_addr(id, NULL, own4(7000), 5000));
  TRY(rdma_migrate_id(id, other));
  see(id);
}

static void migrate_no_id(void) {
  struct rdma_event_channel *other = channel();
  TRY(rdma_migrate_id(NULL, other));
}

static void names(void) {
  say("%s", rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT));
  say("%s", rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT + 1));
  say("%s", rdma_event_str(-1));
}

static void devices(void) {
  TRY_POINTER(rdma_get_devices(NULL));
  TRY_VOID(rdma_free_devices(NULL));
}

static void ports(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  TRY(rdma_get_src_port(id));
  TRY(rdma_get_dst_port(id));
  TRY(rdma_get_src_port(NULL));
}

const struct test_case channel_cases[] = {
    {"get event: no channel", no_channel},
    {"get event: no place for it", no_place_for_event},
    {"get event: an empty channel that does not block", empty_channel},
    {"get event: the program has closed the descriptor", closed_descriptor},
    {"acknowledge: no event", no_event},
    {"acknowledge: an event twice", event_twice},
    {"destroy channel: none", destroy_no_channel},
    {"destroy channel: an identifier uses it", destroy_used_channel},
    {"create id: no place for it", id_without_place},
    {"create id: port spaces", id_port_spaces},
    {"destroy id: none", destroy_no_id},
    {"destroy id: in each state", destroy_each_state},
    {"destroy id: an event is not acknowledged", destroy_with_event},
    {"migrate: to other channels and to none", migrate},
    {"migrate: an event waits", migrate_with_event},
    {"migrate: no identifier", migrate_no_id},
    {"event names", names},
    {"devices", devices},
    {"ports: of an identifier without address", ports},
    {0},
};
