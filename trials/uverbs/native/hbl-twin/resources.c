#include <string.h>

#include "hbl-twin/hbl.h"

static void hbl_fifos(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  struct hbldv_usr_fifo_attr attrs[] = {
      {.port_num = 1},
      {.port_num = 1, .usr_fifo_num_hint = 5},
      {.port_num = 1, .usr_fifo_type = HBLDV_USR_FIFO_TYPE_CC},
  };
  struct hbldv_usr_fifo *fifos[3];
  for (int i = 0; i < 3; ++i) {
    fifos[i] = hbldv_create_usr_fifo(context, &attrs[i]);
    REQUIRE(fifos[i] != NULL);
    saw("%u %u %u %u", fifos[i]->usr_fifo_num, fifos[i]->regs_offset, fifos[i]->size, fifos[i]->bp_thresh);
  }
  saw("number 5 again: %d", errno_without(hbldv_create_usr_fifo(context, &attrs[1])));
  for (int i = 0; i < 3; ++i) REQUIRE(hbldv_destroy_usr_fifo(fifos[i]) == 0);
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_all_fifos(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  struct hbldv_usr_fifo_attr attr = {.port_num = 1};
  struct hbldv_usr_fifo *fifos[30];
  for (int i = 0; i < 30; ++i) {
    fifos[i] = hbldv_create_usr_fifo(context, &attr);
    REQUIRE(fifos[i] != NULL);
  }
  saw("one more: %d", errno_without(hbldv_create_usr_fifo(context, &attr)));
  for (int i = 0; i < 30; ++i) REQUIRE(hbldv_destroy_usr_fifo(fifos[i]) == 0);
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_doorbells(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  for (uint32_t number = 1; number <= 2; ++number) {
    struct hbldv_usr_fifo_attr attr = {.port_num = 1, .usr_fifo_num_hint = number};
    struct hbldv_usr_fifo *fifo = hbldv_create_usr_fifo(context, &attr);
    REQUIRE(fifo != NULL);
    // Bits 0 to 21: the index; 32 to 55: the queue pair; 56 to 63: the port.
    const uint64_t doorbell = 0x3fff01 | (uint64_t)0x123456 << 32 | (uint64_t)1 << 56;
    *(volatile uint64_t *)((char *)fifo->regs_cpu_addr + fifo->regs_offset) = doorbell;
    saw("consumer index %u", *(volatile uint32_t *)fifo->ci_cpu_addr);
    control("queues");
    REQUIRE(hbldv_destroy_usr_fifo(fifo) == 0);
  }
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_encaps(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  struct hbldv_encap_attr attr = encap_attr();
  struct hbldv_encap *encap = hbldv_create_encap(context, &attr);
  REQUIRE(encap != NULL);
  saw("number %u, a second: %d", encap->encap_num, errno_without(hbldv_create_encap(context, &attr)));
  REQUIRE(hbldv_destroy_encap(encap) == 0);
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_encap_refusals(struct ibv_device *device) {
  struct ibv_context *context = open_ready(device);
  struct hbldv_encap_attr attr = encap_attr();
  attr.tnl_hdr_size = 31;
  saw("31 bytes: %d", errno_without(hbldv_create_encap(context, &attr)));
  attr.tnl_hdr_size = 28;
  saw("28 bytes: %d", errno_without(hbldv_create_encap(context, &attr)));
  attr = encap_attr();
  attr.encap_type = HBLDV_ENCAP_TYPE_ENC_OVER_IPV4;
  attr.ip_proto = 47;
  saw("over IPv4: %d", errno_without(hbldv_create_encap(context, &attr)));
  attr = (struct hbldv_encap_attr){.port_num = 1, .encap_type = HBLDV_ENCAP_TYPE_NO_ENC};
  saw("none: %d", errno_without(hbldv_create_encap(context, &attr)));
  attr = encap_attr();
  attr.port_num = 2;
  saw("a port that is not set up: %d", errno_without(hbldv_create_encap(context, &attr)));
  attr.port_num = 3;
  saw("a port that is not open: %d", errno_without(hbldv_create_encap(context, &attr)));
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_encapsulated(struct ibv_device *device) {
  struct hbl_fixture fixture = make_hbl_fixture(device);
  struct hbldv_encap_attr attr = encap_attr();
  struct hbldv_encap *encap = hbldv_create_encap(fixture.context, &attr);
  REQUIRE(encap != NULL);
  int mask;
  struct ibv_qp_attr init = init_attr(&mask);
  struct hbldv_qp_attr given = {.wq_type = HBLDV_WQ_WRITE, .priority = 1};
  REQUIRE(hbldv_modify_qp(fixture.qp, &init, mask, &given) == 0);
  given.caps = HBLDV_QP_CAP_ENCAP;
  given.encap_num = (uint8_t)encap->encap_num;
  given.local_key = 0x77;
  struct ibv_qp_attr rtr = rtr_attr(&mask);
  REQUIRE(hbldv_modify_qp(fixture.qp, &rtr, mask, &given) == 0);
  given.local_key = 0;
  given.remote_key = 0x88;
  struct ibv_qp_attr rts = rts_attr(&mask);
  REQUIRE(hbldv_modify_qp(fixture.qp, &rts, mask, &given) == 0);
  REQUIRE(ibv_destroy_qp(fixture.qp) == 0);
  REQUIRE(hbldv_destroy_encap(encap) == 0);
  REQUIRE(ibv_destroy_cq(fixture.cq) == 0);
  REQUIRE(ibv_dealloc_pd(fixture.pd) == 0);
  REQUIRE(ibv_close_device(fixture.context) == 0);
}

const struct hbl_scenario resource_scenarios_of_hbl[] = {
    {"hbl-fifos", hbl_fifos},
    {"hbl-all-fifos", hbl_all_fifos},
    {"hbl-doorbells", hbl_doorbells},
    {"hbl-encaps", hbl_encaps},
    {"hbl-encap-refusals", hbl_encap_refusals},
    {"hbl-encapsulated", hbl_encapsulated},
    {NULL, NULL},
};
