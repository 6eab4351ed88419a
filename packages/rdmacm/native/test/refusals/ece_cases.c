/* Extended connection establishment: options that the providers of both ends agree on. */
#include "case.h"

static void set(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  struct ibv_ece none = {0}, masked = {.vendor_id = 1, .comp_mask = 1}, good = {.vendor_id = 0xabcdef, .options = 7};
  TRY(rdma_set_local_ece(id, &none));
  TRY(rdma_set_local_ece(id, &masked));
  TRY(rdma_set_local_ece(id, &good));
  TRY(rdma_set_local_ece(id, NULL));
}

static void set_with_qp(void) {
  struct rdma_cm_id *id = route_resolved_id(RDMA_PS_TCP, 7000);
  struct ibv_ece ece = {.vendor_id = 0xabcdef, .options = 7};
  make_qp(id);
  TRY(rdma_set_local_ece(id, &ece));
  TRY(rdma_get_remote_ece(id, &ece));
}

static void set_no_id(void) {
  struct ibv_ece ece = {.vendor_id = 1};
  TRY(rdma_set_local_ece(NULL, &ece));
}

static void get(void) {
  struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
  struct ibv_ece ece = {.vendor_id = 1, .options = 2, .comp_mask = 3};
  TRY(rdma_get_remote_ece(id, NULL));
  TRY(rdma_get_remote_ece(id, &ece));
  say("vendor %x, options %x, mask %x", ece.vendor_id, ece.options, ece.comp_mask);
}

static void tell(const char *who, struct rdma_cm_id *id) {
  struct ibv_ece ece = {0};
  MUST(rdma_get_remote_ece(id, &ece));
  say("%s sees vendor %x, options %x", who, ece.vendor_id, ece.options);
}

/* A client and the request that it makes, without queue pairs of the library. */
static struct ends ece_request(const struct ibv_ece *ece) {
  struct ends ends = {.listener = listening_id(RDMA_PS_TCP, 7471), .client = route_resolved_id(RDMA_PS_TCP, 7471)};
  struct rdma_conn_param param = parameters();
  struct ibv_ece copy = *ece;
  param.qp_num = 5;
  if (copy.vendor_id) MUST(rdma_set_local_ece(ends.client, &copy));
  TRY(rdma_connect(ends.client, &param));
  struct rdma_cm_event *event = take(ends.listener);
  ends.server = event->id;
  rdma_ack_cm_event(event);
  tell("the server", ends.server);
  return ends;
}

static void both_ways(const struct ibv_ece *request, struct ibv_ece *reply) {
  struct ends ends = ece_request(request);
  struct rdma_conn_param param = parameters();
  param.qp_num = 6;
  if (reply->vendor_id) MUST(rdma_set_local_ece(ends.server, reply));
  TRY(rdma_accept(ends.server, &param));
  see(ends.client);
  tell("the client", ends.client);
}

static void agree(void) {
  struct ibv_ece request = {.vendor_id = 0xabcdef, .options = 0x12345678},
                 reply = {.vendor_id = 0x123456, .options = 0x9abcdef0};
  both_ways(&request, &reply);
}

static void wide_vendor(void) {
  struct ibv_ece request = {.vendor_id = 0xffabcdef, .options = 0xffffffff},
                 reply = {.vendor_id = 0xff123456, .options = 1};
  both_ways(&request, &reply);
}

static void request_only(void) {
  struct ibv_ece request = {.vendor_id = 0xabcdef, .options = 3}, reply = {0};
  both_ways(&request, &reply);
}

static void reply_only(void) {
  struct ibv_ece request = {0}, reply = {.vendor_id = 0xabcdef, .options = 3};
  both_ways(&request, &reply);
}

static void reject(void) {
  struct ibv_ece request = {.vendor_id = 0xabcdef, .options = 3};
  struct ends ends = ece_request(&request);
  TRY(rdma_reject_ece(ends.server, "no", 2));
  see(ends.client);
}

static void reject_states(void) {
  TRY(rdma_reject_ece(new_id(RDMA_PS_TCP), NULL, 0));
  TRY(rdma_reject_ece(listening_id(RDMA_PS_TCP, 0), NULL, 0));
}

const struct test_case ece_cases[] = {
    {"ece: values", set},
    {"ece: with a queue pair of the library", set_with_qp},
    {"ece: no identifier", set_no_id},
    {"ece: without a connection", get},
    {"ece: both ends", agree},
    {"ece: vendors of more than 24 bits", wide_vendor},
    {"ece: of the request only", request_only},
    {"ece: of the reply only", reply_only},
    {"ece: rejected", reject},
    {"ece: rejected in a wrong state", reject_states},
    {0},
};
