// The scenarios of libhbl in C. The library is the one that HBL_LIBRARY names: it is loaded when it is first called.
#pragma once

#include "hbldv.h"
#include "twin/twin.h"

struct hbl_scenario {
  const char *name;
  void (*run)(struct ibv_device *device);
};

extern const struct hbl_scenario device_scenarios_of_hbl[];
extern const struct hbl_scenario resource_scenarios_of_hbl[];
extern const struct hbl_scenario queue_scenarios_of_hbl[];
extern const struct hbl_scenario refusal_scenarios_of_hbl[];

// The errno of a call that returns a pointer; 0 if it gave one.
int errno_without(const void *made);
// Ports 1 and 2 open, and port 1 set up with work queues and the advanced functions.
struct ibv_context *open_ports(struct ibv_device *device);
struct ibv_context *open_ready(struct ibv_device *device);

struct hbl_fixture {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq *cq;
  struct ibv_qp *qp;
};
struct hbl_fixture make_hbl_fixture(struct ibv_device *device);
void drop_hbl_fixture(struct hbl_fixture *fixture);
// The attributes of each transition, and their mask.
struct ibv_qp_attr init_attr(int *mask);
struct ibv_qp_attr rtr_attr(int *mask);
struct ibv_qp_attr rts_attr(int *mask);
// The one kind that a Gaudi2 takes.
struct hbldv_encap_attr encap_attr(void);
