/* rdma_getaddrinfo(), and endpoints made of its results. */
#include <string.h>

#include "case.h"

static int look_up(const char *node, const char *service, int flags, int family, int ps) {
  struct rdma_addrinfo hints = {.ai_flags = flags, .ai_family = family, .ai_port_space = ps}, *found = NULL;
  const int result = rdma_getaddrinfo(node, service, &hints, &found);
  if (result == 0) rdma_freeaddrinfo(found);
  return result;
}

static void nothing(void) {
  struct rdma_addrinfo *found = NULL;
  TRY(rdma_getaddrinfo(NULL, NULL, NULL, &found));
}

static void names(void) {
  TRY(look_up("10.0.0.1", "7471", RAI_NUMERICHOST, 0, RDMA_PS_TCP));
  TRY(look_up("no number", "7471", RAI_NUMERICHOST, 0, RDMA_PS_TCP));
  TRY(look_up("10.0.0.1", "no such service", RAI_NUMERICHOST, 0, RDMA_PS_TCP));
  TRY(look_up("10.0.0.1", "7471", RAI_NUMERICHOST | RAI_FAMILY, AF_INET6, RDMA_PS_TCP));
  TRY(look_up("10.0.0.1", "7471", RAI_NUMERICHOST | RAI_FAMILY, AF_UNIX, RDMA_PS_TCP));
  TRY(look_up("10.0.0.1", "7471", RAI_NUMERICHOST, AF_INET6, RDMA_PS_TCP));
  TRY(look_up(NULL, "7471", RAI_PASSIVE, 0, RDMA_PS_TCP));
  TRY(look_up(NULL, "7471", RAI_PASSIVE, 0, 0x107));
}

static void no_place(void) { TRY(rdma_getaddrinfo("10.0.0.1", "7471", NULL, NULL)); }

static void free_nothing(void) { TRY_VOID(rdma_freeaddrinfo(NULL)); }

static void create_addresses(void) {
  struct rdma_cm_id *id = NULL;
  struct rdma_addrinfo passive = info(RAI_PASSIVE, foreign4(0), NULL), active = info(0, NULL, own4(7000)),
                       spaces = info(0, NULL, own4(7000)), family = info(0, NULL, no_ip());
  spaces.ai_port_space = 0x107;
  TRY(rdma_create_ep(&id, &passive, NULL, NULL));
  TRY(rdma_create_ep(&id, &active, NULL, NULL));
  TRY(rdma_create_ep(&id, &spaces, NULL, NULL));
  TRY(rdma_create_ep(&id, &family, NULL, NULL));
}

static void create_without_source(void) {
  struct rdma_cm_id *id = NULL;
  struct rdma_addrinfo passive = info(RAI_PASSIVE, NULL, NULL);
  TRY(rdma_create_ep(&id, &passive, NULL, NULL));
}

static void create_without_destination(void) {
  struct rdma_cm_id *id = NULL;
  struct rdma_addrinfo active = info(0, NULL, NULL);
  TRY(rdma_create_ep(&id, &active, NULL, NULL));
}

static void create_without_info(void) {
  struct rdma_cm_id *id = NULL;
  TRY(rdma_create_ep(&id, NULL, NULL, NULL));
}

static void create_too_large(void) {
  struct rdma_cm_id *id = NULL;
  struct rdma_addrinfo active = info(0, NULL, own4(7000));
  struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = 1 << 30, .max_recv_wr = 1}};
  TRY(rdma_create_ep(&id, &active, NULL, &attr));
}

static void create_twice(void) {
  struct rdma_cm_id *id = NULL;
  struct rdma_addrinfo passive = info(RAI_PASSIVE, own4(7471), NULL);
  TRY(rdma_create_ep(&id, &passive, NULL, NULL));
  TRY(rdma_create_ep(&id, &passive, NULL, NULL));
}

static void get_request(void) {
  struct rdma_cm_id *id = listening_id(RDMA_PS_TCP, 0), *found = NULL;
  TRY(rdma_get_request(id, &found));
}

static void get_request_no_id(void) {
  struct rdma_cm_id *found = NULL;
  TRY(rdma_get_request(NULL, &found));
}

static void destroy_no_id(void) { TRY_VOID(rdma_destroy_ep(NULL)); }

const struct test_case endpoint_cases[] = {
    {"getaddrinfo: nothing to look up", nothing},
    {"getaddrinfo: names, families and port spaces", names},
    {"getaddrinfo: no place for it", no_place},
    {"freeaddrinfo: nothing", free_nothing},
    {"create endpoint: addresses and port spaces", create_addresses},
    {"create endpoint: no source", create_without_source},
    {"create endpoint: no destination", create_without_destination},
    {"create endpoint: no information", create_without_info},
    {"create endpoint: capabilities that are too large", create_too_large},
    {"create endpoint: a port in use", create_twice},
    {"get request: an identifier with a channel of the program", get_request},
    {"get request: no identifier", get_request_no_id},
    {"destroy endpoint: no identifier", destroy_no_id},
    {0},
};
