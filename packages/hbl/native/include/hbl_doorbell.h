/*
 * Doorbells of user FIFOs, and the entries of send work queues and completion queues.
 *
 * A doorbell is one 64-bit store at regs_cpu_addr + regs_offset (bytes). It gives the producer index of a queue pair's
 * send work queue: the number of entries written so far, modulo 2^22. The queue's entries are
 * at swq_cpu_addr of hbldv_query_qp(), entry n in slot n % (number of entries). A store fence belongs between writing
 * entries and the doorbell.
 *
 * The format of doorbells is the hardware's. The formats of work queue entries and completion queue entries are not
 * published: those below are the software model's own, in little endian.
 */
#ifndef VERBS_HBL_DOORBELL_H
#define VERBS_HBL_DOORBELL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HBL_DOORBELL_INDEX_BITS 22 /* the index: bits 0 to 21; 22 to 31 are reserved */
#define HBL_DOORBELL_QP_SHIFT 32   /* 24 bits: qp_num of hbldv_query_qp() */
#define HBL_DOORBELL_PORT_SHIFT 56 /* 8 bits: the port, from 1 */

static inline uint64_t hbl_doorbell(uint32_t index, uint32_t qp_num, uint32_t port_num) {
  return (uint64_t)(port_num & 0xff) << HBL_DOORBELL_PORT_SHIFT |
         (uint64_t)(qp_num & 0xffffff) << HBL_DOORBELL_QP_SHIFT | (index & ((1u << HBL_DOORBELL_INDEX_BITS) - 1));
}

enum hbl_wqe_opcode {
  HBL_WQE_NOP = 0,
  HBL_WQE_WRITE = 1,
  HBL_WQE_WRITE_WITH_IMM = 2,
};

enum hbl_wqe_flags {
  HBL_WQE_SIGNALED = 1, /* completes on the queue pair's send CQ */
  HBL_WQE_SOLICITED = 2,
};

/* A linear write, for queues with HBLDV_SWQE_GRAN_32B. The keys are the queue pair's local_key and remote_key. */
struct hbl_wqe {
  uint8_t opcode; /* enum hbl_wqe_opcode */
  uint8_t flags;  /* enum hbl_wqe_flags */
  uint16_t reserved;
  uint32_t length; /* bytes */
  uint64_t local_addr;
  uint64_t remote_addr;
  uint32_t imm_data;
  uint32_t tag; /* returned in the completion */
};

/* A multi-stride write, for queues with HBLDV_SWQE_GRAN_64B: `strides` blocks of linear.length bytes, block n from
 * local_addr + n * local_stride to remote_addr + n * remote_stride. 0 strides means 1. The immediate data and the
 * completion belong to the last block. */
struct hbl_wqe_multi_stride {
  struct hbl_wqe linear;
  uint32_t strides;
  uint32_t reserved0;
  uint64_t local_stride;
  uint64_t remote_stride;
  uint64_t reserved1;
};

/* An entry of a completion queue's buffer. The device writes it before it writes the producer index. */
struct hbl_cqe {
  uint32_t qp_num;
  uint32_t tag; /* of the work queue entry; 0 for a work request of ibv_post_send() or ibv_post_recv() */
  uint32_t byte_len;
  uint8_t status; /* enum ibv_wc_status */
  uint8_t opcode; /* enum ibv_wc_opcode */
  uint16_t reserved;
};

#ifdef __cplusplus
static_assert(sizeof(hbl_wqe) == 32 && sizeof(hbl_wqe_multi_stride) == 64 && sizeof(hbl_cqe) == 16, "layouts");
}
#endif

#endif
