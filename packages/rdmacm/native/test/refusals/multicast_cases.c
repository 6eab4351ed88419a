/* Multicast groups. */
#include "case.h"

static struct rdma_cm_id *member(void) {
  struct rdma_cm_id *id = bound_id(RDMA_PS_UDP, own4(0));
  make_qp(id);
  return id;
}

static void states(void) {
  TRY(rdma_join_multicast(new_id(RDMA_PS_UDP), group4(), NULL));
  TRY(rdma_join_multicast(bound_id(RDMA_PS_UDP, ipv4("0.0.0.0", 0)), group4(), NULL));
  TRY(rdma_leave_multicast(new_id(RDMA_PS_UDP), group4()));
}

static void connected_type(void) {
  TRY(rdma_join_multicast(bound_id(RDMA_PS_TCP, own4(0)), group4(), NULL));
  TRY(rdma_join_multicast(route_resolved_id(RDMA_PS_TCP, 7000), group4(), NULL));
}

static void addresses(void) {
  struct rdma_cm_id *id = member();
  TRY(rdma_join_multicast(id, no_ip(), NULL));
  TRY(rdma_leave_multicast(id, group4()));
  TRY(rdma_leave_multicast(id, no_ip()));
}

static void one_host(void) {
  struct rdma_cm_id *id = member();
  TRY(rdma_join_multicast(id, own4(0), NULL));
  see(id);
}

static void twice(void) {
  struct rdma_cm_id *id = member();
  TRY(rdma_join_multicast(id, group4(), NULL));
  see(id);
  TRY(rdma_join_multicast(id, group4(), NULL));
  TRY(rdma_leave_multicast(id, group4()));
  TRY(rdma_leave_multicast(id, group4()));
}

static void no_address(void) {
  struct rdma_cm_id *id = member();
  TRY(rdma_join_multicast(id, NULL, NULL));
}

static void leave_no_address(void) {
  struct rdma_cm_id *id = member();
  TRY(rdma_leave_multicast(id, NULL));
}

static void extended(void) {
  struct rdma_cm_id *id = member();
  struct rdma_cm_join_mc_attr_ex attr = {.comp_mask = 0, .join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER, .addr = group4()};
  TRY(rdma_join_multicast_ex(id, &attr, NULL));
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
  TRY(rdma_join_multicast_ex(id, &attr, NULL));
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  TRY(rdma_join_multicast_ex(id, &attr, NULL));
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_RESERVED;
  TRY(rdma_join_multicast_ex(id, &attr, NULL));
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
  TRY(rdma_join_multicast_ex(id, &attr, NULL));
  attr.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
  attr.addr = group4();
  TRY(rdma_join_multicast_ex(id, &attr, NULL));
  see(id);
}

static void no_attributes(void) {
  struct rdma_cm_id *id = member();
  TRY(rdma_join_multicast_ex(id, NULL, NULL));
}

const struct test_case multicast_cases[] = {
    {"join: too early", states},
    {"join: an identifier of connections", connected_type},
    {"join and leave: addresses", addresses},
    {"join: an address of one host", one_host},
    {"join and leave: twice", twice},
    {"join: no address", no_address},
    {"leave: no address", leave_no_address},
    {"join: extended attributes", extended},
    {"join: no extended attributes", no_attributes},
    {0},
};
