/* Queue pairs and shared receive queues of identifiers. */
#include <rdma/rdma_verbs.h>

#include "case.h"

/* A domain of another context of the same device. */
static struct ibv_pd *foreign_pd(const struct rdma_cm_id *id) {
  struct ibv_context *context = ibv_open_device(id->verbs->device);
  return context ? ibv_alloc_pd(context) : NULL;
}

static int create_with(struct rdma_cm_id *id, enum ibv_qp_type type) {
  struct ibv_qp_init_attr attr = qp_attr(id);
  attr.qp_type = type;
  return rdma_create_qp(id, NULL, &attr);
}

static void idle(void) { TRY(create_with(new_id(RDMA_PS_TCP), IBV_QPT_RC)); }

static void without_device(void) { TRY(create_with(bound_id(RDMA_PS_TCP, ipv4("0.0.0.0", 0)), IBV_QPT_RC)); }

static void with_device(void) { TRY(create_with(bound_id(RDMA_PS_TCP, own4(0)), IBV_QPT_RC)); }

static void no_attributes(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_create_qp(id, NULL, NULL));
}

static void no_attributes_ex(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_create_qp_ex(id, NULL));
}

static void no_id(void) { TRY(rdma_create_qp(NULL, NULL, NULL)); }

static void domains(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct ibv_pd *pd = foreign_pd(id);
  struct ibv_qp_init_attr attr = qp_attr(id);
  MUST(pd ? 0 : -1);
  TRY(rdma_create_qp(id, pd, &attr));
  TRY(rdma_create_qp(id, id->pd, &attr));
}

static void twice(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  make_qp(id);
  TRY(create_with(id, IBV_QPT_RC));
  rdma_destroy_qp(id);
  TRY(create_with(id, IBV_QPT_RC));
}

static void types(void) {
  TRY(create_with(route_resolved_id(RDMA_PS_TCP, 7000), IBV_QPT_UD));
  TRY(create_with(route_resolved_id(RDMA_PS_TCP, 7000), IBV_QPT_UC));
  TRY(create_with(route_resolved_id(RDMA_PS_UDP, 7000), IBV_QPT_RC));
  TRY(create_with(route_resolved_id(RDMA_PS_UDP, 7000), IBV_QPT_UD));
}

static void extended(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 1, .max_recv_wr = 1}};
  attr.comp_mask = IBV_QP_INIT_ATTR_PD;
  attr.pd = foreign_pd(id);
  TRY(rdma_create_qp_ex(id, &attr));
  attr.comp_mask = 0;
  TRY(rdma_create_qp_ex(id, &attr));
}

static void capabilities(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct ibv_qp_init_attr attr = qp_attr(id);
  attr.cap.max_send_wr = 1 << 30;
  TRY(rdma_create_qp(id, NULL, &attr));
  attr = qp_attr(id);
  attr.cap.max_send_sge = 1 << 20;
  TRY(rdma_create_qp(id, NULL, &attr));
}

static void destroy(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  make_qp(id);
  TRY_VOID(rdma_destroy_qp(id));
}

static void destroy_no_srq(void) { TRY_VOID(rdma_destroy_srq(route_resolved_id(RDMA_PS_TCP, 7000))); }

static void destroy_no_qp(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY_VOID(rdma_destroy_qp(id));
}

static void destroy_no_id(void) { TRY_VOID(rdma_destroy_qp(NULL)); }

static void shared_queues(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
  struct ibv_pd *pd = foreign_pd(id);
  MUST(pd ? 0 : -1);
  TRY(rdma_create_srq(id, pd, &attr));
  TRY(rdma_create_srq(id, NULL, &attr));
  TRY(rdma_create_srq(id, NULL, &attr));
}

static void shared_queue_idle(void) {
  struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
  TRY(rdma_create_srq(new_id(RDMA_PS_TCP), NULL, &attr));
}

static void no_shared_queue(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_create_srq(id, NULL, NULL));
}

static int init_attr(struct rdma_cm_id *id, enum ibv_qp_state state) {
  struct ibv_qp_attr attr = {.qp_state = state};
  int mask = 0;
  return rdma_init_qp_attr(id, &attr, &mask);
}

static void attributes(void) {
  struct rdma_cm_id *route = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(init_attr(new_id(RDMA_PS_TCP), IBV_QPS_INIT));
  TRY(init_attr(bound_id(RDMA_PS_TCP, own4(0)), IBV_QPS_INIT));
  TRY(init_attr(route, IBV_QPS_RESET));
  TRY(init_attr(route, IBV_QPS_INIT));
  TRY(init_attr(route, IBV_QPS_RTR));
  TRY(init_attr(route, IBV_QPS_RTS));
  TRY(init_attr(route, IBV_QPS_ERR));
  TRY(init_attr(route, 99));
  struct rdma_cm_id *datagram = route_resolved_id(RDMA_PS_UDP, 7000);
  TRY(init_attr(datagram, IBV_QPS_INIT));
  TRY(init_attr(datagram, IBV_QPS_RTR));
  TRY(init_attr(datagram, IBV_QPS_RTS));
  TRY(init_attr(datagram, IBV_QPS_ERR));
}

static void attributes_connected(void) {
  struct ends ends = connected();
  TRY(init_attr(ends.client, IBV_QPS_INIT));
  TRY(init_attr(ends.client, IBV_QPS_RTR));
  TRY(init_attr(ends.client, IBV_QPS_RTS));
  TRY(init_attr(ends.server, IBV_QPS_SQD));
}

static void no_attributes_to_fill(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  TRY(rdma_init_qp_attr(id, NULL, NULL));
}

const struct test_case queue_cases[] = {
    {"create qp: an idle identifier", idle},
    {"create qp: an identifier without device", without_device},
    {"create qp: a bound identifier", with_device},
    {"create qp: no attributes", no_attributes},
    {"create qp: no extended attributes", no_attributes_ex},
    {"create qp: no identifier", no_id},
    {"create qp: the domain of another context", domains},
    {"create qp: twice", twice},
    {"create qp: types", types},
    {"create qp: extended attributes", extended},
    {"create qp: capabilities that are too large", capabilities},
    {"destroy qp: one", destroy},
    {"destroy srq: none", destroy_no_srq},
    {"destroy qp: none", destroy_no_qp},
    {"destroy qp: no identifier", destroy_no_id},
    {"create srq: an idle identifier", shared_queue_idle},
    {"create srq: the domain of another context, and twice", shared_queues},
    {"create srq: no attributes", no_shared_queue},
    {"init qp attr: states", attributes},
    {"init qp attr: of a connection", attributes_connected},
    {"init qp attr: no place for it", no_attributes_to_fill},
    {0},
};
