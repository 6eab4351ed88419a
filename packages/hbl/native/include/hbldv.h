/*
 * The binary interface of libhbl, Habana (Gaudi) direct verbs: the types and the functions that a caller needs. No
 * distribution ships a header, so this one is written from the published manual pages and from layouts measured on
 * x86-64. Each layout that we rely on is asserted below.
 *
 * There are two libraries: the one that was submitted to rdma-core in 2024 (libhbl.so.1, 13 functions), and the one of
 * the Gaudi SDK, which has three functions more. Where their structures differ, the one of the SDK is longer or uses
 * what the other reserves; hbldv_device_attr has a structure for each.
 *
 * Functions that return a pointer return NULL and set errno. Functions that return an int return 0 or a positive errno
 * value. The destroy functions free their object even when they fail.
 */
#ifndef VERBS_HBLDV_H
#define VERBS_HBLDV_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define HBLDV_ASSERT(condition) static_assert(condition, #condition)
#else
#define HBLDV_ASSERT(condition) _Static_assert(condition, #condition)
#endif

#define HBLDV_VERSION "HBL_1.0"
#define HBLDV_USER_BP_OFFS_MAX 16
#define HBLDV_ATOMIC_FNA_FIFO_OFFS_MAX 2
#define HBL_IB_MTU_8192 6 /* a path_mtu that enum ibv_mtu does not have */

enum hbldv_qp_caps {
  HBLDV_QP_CAP_LOOPBACK = 0x1,
  HBLDV_QP_CAP_CONG_CTRL = 0x2,
  HBLDV_QP_CAP_COMPRESSION = 0x4,
  HBLDV_QP_CAP_SACK = 0x8, /* the SDK's */
  HBLDV_QP_CAP_ENCAP = 0x10,
  HBLDV_QP_CAP_COLL = 0x20,    /* the SDK's */
  HBLDV_QP_CAP_MIGRATE = 0x40, /* the SDK's: qp_to_migrate is valid */
};
enum hbldv_port_ex_caps { HBLDV_PORT_CAP_ADVANCED = 0x1, HBLDV_PORT_CAP_ADAPTIVE_TIMEOUT = 0x2 };
enum hbldv_mem_id { HBLDV_MEM_HOST = 1, HBLDV_MEM_DEVICE = 2 };
enum hbldv_wq_array_type {
  HBLDV_WQ_ARRAY_TYPE_GENERIC = 0,
  HBLDV_WQ_ARRAY_TYPE_COLLECTIVE = 1,           /* the SDK's */
  HBLDV_WQ_ARRAY_TYPE_SCALE_OUT_COLLECTIVE = 2, /* the SDK's */
  HBLDV_WQ_ARRAY_TYPE_MAX = 5,
};
enum hbldv_swq_granularity { HBLDV_SWQE_GRAN_32B = 0, HBLDV_SWQE_GRAN_64B = 1 };
enum hbldv_usr_fifo_type {
  HBLDV_USR_FIFO_TYPE_DB = 0,
  HBLDV_USR_FIFO_TYPE_CC = 1,
  /* The SDK's. */
  HBLDV_USR_FIFO_TYPE_COLL_OPS_SHORT = 2,
  HBLDV_USR_FIFO_TYPE_COLL_OPS_LONG = 3,
  HBLDV_USR_FIFO_TYPE_DWQ_LIN = 4,
  HBLDV_USR_FIFO_TYPE_DWQ_MS = 5,
  HBLDV_USR_FIFO_TYPE_COLL_DIR_OPS_SHORT = 6,
  HBLDV_USR_FIFO_TYPE_COLL_DIR_OPS_LONG = 7,
  HBLDV_USR_FIFO_TYPE_LAG = 8,
  HBLDV_USR_FIFO_TYPE_LAG_COMPLETION = 9,
};
enum hbldv_qp_wq_types {
  HBLDV_WQ_WRITE = 0x1,
  HBLDV_WQ_RECV_RDV = 0x2,
  HBLDV_WQ_READ_RDV = 0x4,
  HBLDV_WQ_SEND_RDV = 0x8,
  HBLDV_WQ_READ_RDV_ENDP = 0x10,
};
enum hbldv_cq_type { HBLDV_CQ_TYPE_QP = 0, HBLDV_CQ_TYPE_CC = 1 };
enum hbldv_encap_type {
  HBLDV_ENCAP_TYPE_NO_ENC = 0,
  HBLDV_ENCAP_TYPE_ENC_OVER_IPV4 = 1,
  HBLDV_ENCAP_TYPE_ENC_OVER_UDP = 2,
};
enum hbldv_device_attr_caps {
  HBLDV_DEVICE_ATTR_CAP_CC = 1,
  HBLDV_DEVICE_ATTR_CAP_COLL = 2, /* the SDK's */
};

struct hbldv_ucontext_attr {
  uint64_t ports_mask; /* bit n is port n; 0: all */
  int core_fd;         /* the caller keeps and closes it */
};
struct hbldv_wq_array_attr {
  uint32_t max_num_of_wqs;
  uint32_t max_num_of_wqes_in_wq;
  enum hbldv_mem_id mem_id;
  enum hbldv_swq_granularity swq_granularity;
};
struct hbldv_port_ex_attr {
  struct hbldv_wq_array_attr wq_arr_attr[HBLDV_WQ_ARRAY_TYPE_MAX];
  uint64_t caps;
  uint32_t qp_wq_bp_offs[HBLDV_USER_BP_OFFS_MAX];
  uint32_t atomic_fna_fifo_offs[HBLDV_ATOMIC_FNA_FIFO_OFFS_MAX]; /* the SDK's; otherwise reserved, as the last member */
  uint32_t port_num;
  uint8_t atomic_fna_mask_size;
};
struct hbldv_query_port_attr {
  uint32_t max_num_of_qps;
  uint32_t num_allocated_qps;
  uint32_t max_allocated_qp_num;
  uint32_t max_cq_size; /* bytes */
  /* The SDK's; otherwise reserved. */
  uint32_t max_num_of_scale_out_coll_qps, max_num_of_coll_qps;
  uint32_t base_scale_out_coll_qp_num, base_coll_qp_num, coll_qps_offset;
  uint8_t advanced;
  uint8_t max_num_of_cqs;
  uint8_t max_num_of_usr_fifos;
  uint8_t max_num_of_encaps;
  uint8_t nic_macro_idx;
  uint8_t nic_phys_port_idx;
};
struct hbldv_qp_attr {
  uint64_t caps;
  uint32_t local_key;
  uint32_t remote_key;
  uint32_t congestion_wnd;
  uint32_t reserved0;
  uint32_t dest_wq_size;
  enum hbldv_qp_wq_types wq_type;
  enum hbldv_swq_granularity wq_granularity;
  uint8_t priority;
  uint8_t coll_lag_idx, coll_last_in_lag; /* the SDK's; otherwise reserved, as coll_lag_size */
  uint8_t encap_num;
  uint8_t coll_lag_size;
};
/* As the SDK's library reads it. */
struct hbldv_sdk_qp_attr {
  struct hbldv_qp_attr common;
  struct ibv_qp *qp_to_migrate;
};
struct hbldv_query_qp_attr {
  uint32_t qp_num;
  void *swq_cpu_addr;
  void *rwq_cpu_addr;
};
struct hbldv_usr_fifo_attr {
  uint32_t port_num;
  uint32_t base_sob_addr, num_sobs; /* the SDK's; otherwise reserved, as dir_dup_mask */
  uint32_t usr_fifo_num_hint;       /* 0: any */
  enum hbldv_usr_fifo_type usr_fifo_type;
  uint8_t dir_dup_mask;
};
struct hbldv_usr_fifo {
  void *ci_cpu_addr;   /* a uint32_t that the device writes */
  void *regs_cpu_addr; /* (void *)-1 if the context has no mapped registers */
  uint32_t regs_offset;
  uint32_t usr_fifo_num;
  uint32_t size;      /* bytes; an entry has 8 */
  uint32_t bp_thresh; /* bytes */
};
struct hbldv_cq_attr {
  uint8_t port_num;
  enum hbldv_cq_type cq_type;
};
struct hbldv_query_cq_attr {
  struct ibv_cq *ibvcq;
  void *mem_cpu_addr;
  void *pi_cpu_addr;
  void *regs_cpu_addr;
  uint32_t cq_size; /* bytes */
  uint32_t cq_num;
  uint32_t regs_offset;
  enum hbldv_cq_type cq_type;
};
struct hbldv_encap_attr {
  uint64_t tnl_hdr_ptr;
  uint32_t tnl_hdr_size; /* bytes */
  uint32_t ipv4_addr;    /* host byte order */
  uint32_t port_num;
  union {
    uint16_t udp_dst_port; /* host byte order */
    uint16_t ip_proto;
  };
  enum hbldv_encap_type encap_type;
};
struct hbldv_encap {
  uint32_t encap_num;
};
struct hbldv_device_attr {
  uint64_t caps;
  uint64_t ports_mask;
};

/* -- of the SDK's library */
struct hbldv_sdk_device_attr {
  uint64_t caps;
  uint8_t num_ports;
  uint64_t ext_ports_mask; /* ports that leave the machine; bit n is port n */
  uint64_t hw_ports_mask;  /* all of them */
};
struct hbldv_coll_qp_attr {
  uint8_t is_scale_out;
  uint64_t ports_mask;
};
struct hbldv_coll_qp {
  uint32_t qp_num;
};
#define HBLDV_COLL_SCHED_RESOURCES_MAX 256
struct hbldv_coll_sched_resource {
  uint32_t type; /* enum hbldv_coll_sched_resource_type, 0 to 12 */
  uint8_t id;
  size_t size; /* bytes */
  uint32_t pa_offs;
  void *virt_addr;
};
struct hbldv_coll_sched_resources {
  int num_resources;
  struct hbldv_coll_sched_resource resource[HBLDV_COLL_SCHED_RESOURCES_MAX];
};

#define HBLDV_LAYOUT(type, size) HBLDV_ASSERT(sizeof(struct type) == (size))
#define HBLDV_FIELD(type, field, offset) HBLDV_ASSERT(offsetof(struct type, field) == (offset))
HBLDV_LAYOUT(hbldv_ucontext_attr, 16);
HBLDV_FIELD(hbldv_ucontext_attr, core_fd, 8);
HBLDV_LAYOUT(hbldv_wq_array_attr, 16);
HBLDV_FIELD(hbldv_wq_array_attr, swq_granularity, 12);
HBLDV_LAYOUT(hbldv_port_ex_attr, 168);
HBLDV_FIELD(hbldv_port_ex_attr, caps, 80);
HBLDV_FIELD(hbldv_port_ex_attr, qp_wq_bp_offs, 88);
HBLDV_FIELD(hbldv_port_ex_attr, atomic_fna_fifo_offs, 152);
HBLDV_FIELD(hbldv_port_ex_attr, port_num, 160);
HBLDV_LAYOUT(hbldv_query_port_attr, 44);
HBLDV_FIELD(hbldv_query_port_attr, max_cq_size, 12);
HBLDV_FIELD(hbldv_query_port_attr, max_num_of_scale_out_coll_qps, 16);
HBLDV_FIELD(hbldv_query_port_attr, coll_qps_offset, 32);
HBLDV_FIELD(hbldv_query_port_attr, advanced, 36);
HBLDV_FIELD(hbldv_query_port_attr, nic_phys_port_idx, 41);
HBLDV_LAYOUT(hbldv_qp_attr, 48);
HBLDV_FIELD(hbldv_qp_attr, dest_wq_size, 24);
HBLDV_FIELD(hbldv_qp_attr, wq_granularity, 32);
HBLDV_FIELD(hbldv_qp_attr, priority, 36);
HBLDV_FIELD(hbldv_qp_attr, coll_lag_idx, 37);
HBLDV_FIELD(hbldv_qp_attr, encap_num, 39);
HBLDV_FIELD(hbldv_qp_attr, coll_lag_size, 40);
HBLDV_LAYOUT(hbldv_query_qp_attr, 24);
HBLDV_FIELD(hbldv_query_qp_attr, rwq_cpu_addr, 16);
HBLDV_LAYOUT(hbldv_usr_fifo_attr, 24);
HBLDV_FIELD(hbldv_usr_fifo_attr, usr_fifo_num_hint, 12);
HBLDV_FIELD(hbldv_usr_fifo_attr, usr_fifo_type, 16);
HBLDV_FIELD(hbldv_usr_fifo_attr, dir_dup_mask, 20);
HBLDV_LAYOUT(hbldv_usr_fifo, 32);
HBLDV_FIELD(hbldv_usr_fifo, regs_offset, 16);
HBLDV_FIELD(hbldv_usr_fifo, bp_thresh, 28);
HBLDV_LAYOUT(hbldv_cq_attr, 8);
HBLDV_FIELD(hbldv_cq_attr, cq_type, 4);
HBLDV_LAYOUT(hbldv_query_cq_attr, 48);
HBLDV_FIELD(hbldv_query_cq_attr, cq_size, 32);
HBLDV_FIELD(hbldv_query_cq_attr, cq_type, 44);
HBLDV_LAYOUT(hbldv_encap_attr, 32);
HBLDV_FIELD(hbldv_encap_attr, ipv4_addr, 12);
HBLDV_FIELD(hbldv_encap_attr, udp_dst_port, 20);
HBLDV_FIELD(hbldv_encap_attr, encap_type, 24);
HBLDV_LAYOUT(hbldv_encap, 4);
HBLDV_LAYOUT(hbldv_device_attr, 16);
HBLDV_LAYOUT(hbldv_sdk_qp_attr, 56);
HBLDV_FIELD(hbldv_sdk_qp_attr, qp_to_migrate, 48);
HBLDV_LAYOUT(hbldv_sdk_device_attr, 32);
HBLDV_FIELD(hbldv_sdk_device_attr, num_ports, 8);
HBLDV_FIELD(hbldv_sdk_device_attr, hw_ports_mask, 24);
HBLDV_LAYOUT(hbldv_coll_qp_attr, 16);
HBLDV_FIELD(hbldv_coll_qp_attr, ports_mask, 8);
HBLDV_LAYOUT(hbldv_coll_sched_resource, 32);
HBLDV_FIELD(hbldv_coll_sched_resource, id, 4);
HBLDV_FIELD(hbldv_coll_sched_resource, virt_addr, 24);
HBLDV_LAYOUT(hbldv_coll_sched_resources, 8200);

bool hbldv_is_supported(struct ibv_device *device);
struct ibv_context *hbldv_open_device(struct ibv_device *device, struct hbldv_ucontext_attr *attr);
int hbldv_query_device(struct ibv_context *context, struct hbldv_device_attr *attr);
int hbldv_set_port_ex(struct ibv_context *context, struct hbldv_port_ex_attr *attr);
int hbldv_query_port(struct ibv_context *context, uint32_t port_num, struct hbldv_query_port_attr *attr);
struct hbldv_usr_fifo *hbldv_create_usr_fifo(struct ibv_context *context, struct hbldv_usr_fifo_attr *attr);
int hbldv_destroy_usr_fifo(struct hbldv_usr_fifo *usr_fifo);
struct hbldv_encap *hbldv_create_encap(struct ibv_context *context, struct hbldv_encap_attr *attr);
int hbldv_destroy_encap(struct hbldv_encap *encap);
struct ibv_cq *hbldv_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel, int comp_vector,
                               struct hbldv_cq_attr *attr);
int hbldv_query_cq(struct ibv_cq *cq, struct hbldv_query_cq_attr *attr);
int hbldv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct hbldv_qp_attr *hbl_attr);
int hbldv_query_qp(struct ibv_qp *qp, struct hbldv_query_qp_attr *attr);

/* The functions as a table: X(result, name, parameters, arguments). */
#define HBLDV_FUNCTIONS(X)                                                                                             \
  X(bool, hbldv_is_supported, (struct ibv_device * device), (device))                                                  \
  X(struct ibv_context *, hbldv_open_device, (struct ibv_device * device, struct hbldv_ucontext_attr * attr),          \
    (device, attr))                                                                                                    \
  X(int, hbldv_query_device, (struct ibv_context * context, struct hbldv_device_attr * attr), (context, attr))         \
  X(int, hbldv_set_port_ex, (struct ibv_context * context, struct hbldv_port_ex_attr * attr), (context, attr))         \
  X(int, hbldv_query_port, (struct ibv_context * context, uint32_t port_num, struct hbldv_query_port_attr *attr),      \
    (context, port_num, attr))                                                                                         \
  X(struct hbldv_usr_fifo *, hbldv_create_usr_fifo, (struct ibv_context * context, struct hbldv_usr_fifo_attr * attr), \
    (context, attr))                                                                                                   \
  X(int, hbldv_destroy_usr_fifo, (struct hbldv_usr_fifo * usr_fifo), (usr_fifo))                                       \
  X(struct hbldv_encap *, hbldv_create_encap, (struct ibv_context * context, struct hbldv_encap_attr * attr),          \
    (context, attr))                                                                                                   \
  X(int, hbldv_destroy_encap, (struct hbldv_encap * encap), (encap))                                                   \
  X(struct ibv_cq *, hbldv_create_cq,                                                                                  \
    (struct ibv_context * context, int cqe, struct ibv_comp_channel *channel, int comp_vector,                         \
     struct hbldv_cq_attr *attr),                                                                                      \
    (context, cqe, channel, comp_vector, attr))                                                                        \
  X(int, hbldv_query_cq, (struct ibv_cq * cq, struct hbldv_query_cq_attr * attr), (cq, attr))                          \
  X(int, hbldv_modify_qp,                                                                                              \
    (struct ibv_qp * qp, struct ibv_qp_attr * attr, int attr_mask, struct hbldv_qp_attr *hbl_attr),                    \
    (qp, attr, attr_mask, hbl_attr))                                                                                   \
  X(int, hbldv_query_qp, (struct ibv_qp * qp, struct hbldv_query_qp_attr * attr), (qp, attr))

#ifdef __cplusplus
}
#endif

#endif
