#include "hbl-twin/hbl.h"

static void hbl_ports_refused(struct ibv_device *device) {
  struct hbldv_ucontext_attr outside = {.ports_mask = 16, .core_fd = 7};
  saw("a port that is not there: %d", errno_without(hbldv_open_device(device, &outside)));
  struct ibv_context *context = open_ports(device);
  struct hbldv_port_ex_attr attr = {.port_num = 3};
  saw("a port that is not open: %d", hbldv_set_port_ex(context, &attr));
  attr = (struct hbldv_port_ex_attr){.port_num = 1, .qp_wq_bp_offs = {4}};
  saw("an offset without ADVANCED: %d", hbldv_set_port_ex(context, &attr));
  attr = (struct hbldv_port_ex_attr){.port_num = 1, .qp_wq_bp_offs = {0, 0, 0x8000000}};
  saw("an offset outside: %d", hbldv_set_port_ex(context, &attr));
  attr = (struct hbldv_port_ex_attr){.port_num = 1, .wq_arr_attr = {{1, 8, HBLDV_MEM_HOST, HBLDV_SWQE_GRAN_32B}}};
  saw("8 elements: %d", hbldv_set_port_ex(context, &attr));
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_fifos_refused(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  struct hbldv_usr_fifo_attr attr = {.port_num = 2};
  saw("a port that is not set up: %d", errno_without(hbldv_create_usr_fifo(context, &attr)));
  attr.port_num = 3;
  saw("a port that is not open: %d", errno_without(hbldv_create_usr_fifo(context, &attr)));
  attr = (struct hbldv_usr_fifo_attr){.port_num = 1, .usr_fifo_num_hint = 31};
  saw("number 31: %d", errno_without(hbldv_create_usr_fifo(context, &attr)));
  attr = (struct hbldv_usr_fifo_attr){.port_num = 1, .usr_fifo_type = (enum hbldv_usr_fifo_type)2};
  saw("mode 2: %d", errno_without(hbldv_create_usr_fifo(context, &attr)));
  REQUIRE(ibv_close_device(context) == 0);
}

// A try in INIT, then back to RESET.
static void try_init(struct ibv_qp *qp, unsigned type) {
  int mask;
  struct ibv_qp_attr init = init_attr(&mask);
  struct hbldv_qp_attr given = {.wq_type = (enum hbldv_qp_wq_types)type, .priority = 1};
  saw("work %u: %d", type, hbldv_modify_qp(qp, &init, mask, &given));
}

static void hbl_states_refused(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  try_init(fixture.qp, 0);
  try_init(fixture.qp, HBLDV_WQ_RECV_RDV | HBLDV_WQ_READ_RDV);
  try_init(fixture.qp, HBLDV_WQ_SEND_RDV | HBLDV_WQ_WRITE);
  try_init(fixture.qp, HBLDV_WQ_WRITE);
  int mask;
  struct hbldv_qp_attr given = {.wq_type = HBLDV_WQ_WRITE, .priority = 1};
  struct ibv_qp_attr rtr = rtr_attr(&mask);
  given.encap_num = 2;
  saw("a number without ENCAP: %d", hbldv_modify_qp(fixture.qp, &rtr, mask, &given));
  given.encap_num = 0;
  // The kernel has put it back to RESET.
  saw("RTR again: %d", hbldv_modify_qp(fixture.qp, &rtr, mask, &given));
  try_init(fixture.qp, HBLDV_WQ_WRITE);
  rtr = rtr_attr(&mask);
  saw("RTR: %d", hbldv_modify_qp(fixture.qp, &rtr, mask, &given));
  struct ibv_qp_attr rts = rts_attr(&mask);
  given.priority = 4;
  saw("priority 4: %d", hbldv_modify_qp(fixture.qp, &rts, mask, &given));
  drop_hbl_fixture(&fixture);
}

// What libhbl does not have: answered without the kernel.
static void hbl_missing(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  void *memory = pages(4096);
  saw("a region: %d",
      errno_without(ibv_reg_mr_iova2(fixture.pd, memory, 4096, (uintptr_t)memory, IBV_ACCESS_LOCAL_WRITE)));
  struct ibv_ah_attr ah = address_vector();
  saw("an address handle: %d", errno_without(ibv_create_ah(fixture.pd, &ah)));
  struct ibv_wc wc;
  saw("polling: %d", ibv_poll_cq(fixture.cq, 1, &wc));
  saw("notification: %d", ibv_req_notify_cq(fixture.cq, 0));
  saw("a queue of ordinary verbs: %d", errno_without(ibv_create_cq(fixture.context, 16, NULL, NULL, 0)));
  saw("a second protection domain: %d", errno_without(ibv_alloc_pd(fixture.context)));
  drop_hbl_fixture(&fixture);
}

static void hbl_destroys_refused(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  control("refuse QP_DESTROY 16 1");
  saw("the queue pair: %d", ibv_destroy_qp(fixture.qp));
  struct hbldv_usr_fifo_attr attr = {.port_num = 1};
  struct hbldv_usr_fifo *fifo = hbldv_create_usr_fifo(fixture.context, &attr);
  REQUIRE(fifo != NULL);
  control("refuse USR_FIFO_DESTROY 16 1");
  // The library has freed it all the same.
  saw("the FIFO: %d", hbldv_destroy_usr_fifo(fifo));
  struct hbldv_encap_attr encap_given = encap_attr();
  struct hbldv_encap *encap = hbldv_create_encap(fixture.context, &encap_given);
  REQUIRE(encap != NULL);
  control("refuse ENCAP_DESTROY 16 1");
  saw("the encapsulation: %d", hbldv_destroy_encap(encap));
  drop_hbl_fixture(&fixture);
}

static void hbl_removal(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  control("remove");
  struct ibv_async_event event;
  REQUIRE(ibv_get_async_event(fixture.context, &event) == 0);
  saw("event %d", event.event_type);
  ibv_ack_async_event(&event);
  struct hbldv_query_port_attr port;
  saw("the port: %d", hbldv_query_port(fixture.context, 1, &port));
  REQUIRE(ibv_close_device(fixture.context) == 0);
}

const struct hbl_scenario refusal_scenarios_of_hbl[] = {
    {"hbl-ports-refused", hbl_ports_refused},
    {"hbl-fifos-refused", hbl_fifos_refused},
    {"hbl-states-refused", hbl_states_refused},
    {"hbl-missing", hbl_missing},
    {"hbl-destroys-refused", hbl_destroys_refused},
    {"hbl-removal", hbl_removal},
    {NULL, NULL},
};
