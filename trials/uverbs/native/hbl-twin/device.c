#include <inttypes.h>

#include "hbl-twin/hbl.h"

static void hbl_open(struct ibv_device *device) {
  struct ibv_context *context = open_ports(device);
  struct hbldv_device_attr attr;
  REQUIRE(hbldv_query_device(context, &attr) == 0);
  saw("caps %" PRIu64 ", ports %" PRIu64, attr.caps, attr.ports_mask);
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_open_all(struct ibv_device *device) {
  struct hbldv_ucontext_attr attr = {.core_fd = -1};
  struct ibv_context *context = hbldv_open_device(device, &attr);
  REQUIRE(context != NULL);
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_default_open(struct ibv_device *device) {
  struct ibv_context *context = hbldv_open_device(device, NULL);
  REQUIRE(context != NULL);
  struct hbldv_port_ex_attr attr = {.port_num = 1};
  saw("setting up a port: %d", hbldv_set_port_ex(context, &attr));
  struct hbldv_usr_fifo_attr fifo_attr = {.port_num = 1};
  struct hbldv_usr_fifo *fifo = hbldv_create_usr_fifo(context, &fifo_attr);
  REQUIRE(fifo != NULL);
  REQUIRE(hbldv_destroy_usr_fifo(fifo) == 0);
  REQUIRE(ibv_close_device(context) == 0);
}

// The library has one default context for the process.
static void hbl_default_open_twice(struct ibv_device *device) {
  struct ibv_context *first = hbldv_open_device(device, NULL);
  REQUIRE(first != NULL);
  struct ibv_context *second = hbldv_open_device(device, NULL);
  REQUIRE(second != NULL);
  REQUIRE(ibv_close_device(second) == 0);
  struct hbldv_query_port_attr port;
  saw("after one close: %d", hbldv_query_port(first, 1, &port));
  REQUIRE(ibv_close_device(first) == 0);
}

static void hbl_set_port(struct ibv_device *device) {
  struct ibv_context *context = open_ports(device);
  struct hbldv_port_ex_attr attr = {
      .caps = HBLDV_PORT_CAP_ADVANCED | HBLDV_PORT_CAP_ADAPTIVE_TIMEOUT,
      .port_num = 2,
  };
  for (uint32_t i = 0; i < HBLDV_WQ_ARRAY_TYPE_MAX; ++i) {
    attr.wq_arr_attr[i] = (struct hbldv_wq_array_attr){i + 1, 16U << i, i % 2 == 0 ? HBLDV_MEM_HOST : HBLDV_MEM_DEVICE,
                                                       i % 2 == 0 ? HBLDV_SWQE_GRAN_32B : HBLDV_SWQE_GRAN_64B};
  }
  for (uint32_t i = 0; i < HBLDV_USER_BP_OFFS_MAX; ++i) attr.qp_wq_bp_offs[i] = 0x1000 + 4 * i;
  REQUIRE(hbldv_set_port_ex(context, &attr) == 0);
  saw("again: %d", hbldv_set_port_ex(context, &attr));
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_query_port(struct ibv_device *device) {
  struct ibv_context *context = open_ports(device);
  struct hbldv_query_port_attr attr;
  REQUIRE(hbldv_query_port(context, 2, &attr) == 0);
  saw("%u %u %u %u", attr.max_num_of_qps, attr.num_allocated_qps, attr.max_allocated_qp_num, attr.max_cq_size);
  saw("%u %u %u %u", attr.max_num_of_cqs, attr.max_num_of_usr_fifos, attr.max_num_of_encaps, attr.nic_phys_port_idx);
  const int port0 = hbldv_query_port(context, 0, &attr);
  saw("port 0: %d, port 3: %d", port0, hbldv_query_port(context, 3, &attr));
  REQUIRE(ibv_close_device(context) == 0);
}

static void hbl_queries(struct ibv_device *device) {
  struct ibv_context *context = open_ports(device);
  struct ibv_device_attr attr;
  REQUIRE(ibv_query_device(context, &attr) == 0);
  struct ibv_port_attr port;
  REQUIRE(ibv_query_port(context, 1, &port) == 0);
  union ibv_gid gid;
  REQUIRE(ibv_query_gid(context, 1, 3, &gid) == 0);
  REQUIRE(ibv_close_device(context) == 0);
}

const struct hbl_scenario device_scenarios_of_hbl[] = {
    {"hbl-open", hbl_open},
    {"hbl-open-all", hbl_open_all},
    {"hbl-default-open", hbl_default_open},
    {"hbl-default-open-twice", hbl_default_open_twice},
    {"hbl-set-port", hbl_set_port},
    {"hbl-query-port", hbl_query_port},
    {"hbl-queries", hbl_queries},
    {NULL, NULL},
};
