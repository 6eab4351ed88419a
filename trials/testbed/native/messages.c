// One message at a time: every operation of RC and UC, in every size and path MTU.
#include <arpa/inet.h>
#include <stdio.h>

#include "cases.h"
#include "connection.h"

struct message_case {
  enum ibv_qp_type type;
  enum ibv_wr_opcode opcode;
  enum ibv_mtu mtu;
  bool large;  // 8 MiB, the most that rxe takes
};

static bool takes_receive(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

// The passive end's completion of the message.
static void check_receive(struct run *run, const struct message_case *which, uint32_t size) {
  const struct ibv_wc wc = next_success(run);
  const bool write = which->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (wc.opcode != (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV)) fail(run, "opcode %d", (int)wc.opcode);
  if (wc.byte_len != size) fail(run, "byte_len %u of %u", wc.byte_len, size);
  if (has_imm(which->opcode) != ((wc.wc_flags & IBV_WC_WITH_IMM) != 0)) fail(run, "wc_flags %x", (unsigned)wc.wc_flags);
  if (has_imm(which->opcode) && ntohl(wc.imm_data) != size + 5) fail(run, "imm_data %x", ntohl(wc.imm_data));
  if (wc.qp_num != run->qp->qp_num) fail(run, "qp_num %x", wc.qp_num);
}

// A UC WRITE has no acknowledgement: the data arrives some time after the requester's completion.
static void await_byte(struct run *run, const uint8_t *byte, uint8_t before) {
  for (int turn = 0; turn < 200 && *(const volatile uint8_t *)byte == before; ++turn) no_completion(run, 10);
}

static void one_message(struct run *run, const struct message_case *which, const struct peer *peer, uint32_t size) {
  struct end *end = run->end;
  const unsigned seed = size + (unsigned)which->opcode;
  const bool read = which->opcode == IBV_WR_RDMA_READ;
  const bool receives = read == run->active;
  if (receives) {
    memset(end->in, 0xee, size + 1);
  } else {
    fill(end->out, size, seed);
  }
  if (!run->active && takes_receive(which->opcode)) post_receive(run, size, HALF, size);
  meet(run);
  if (run->active) {
    post(run, &(struct request){.opcode = which->opcode,
                                .id = size,
                                .local = read ? HALF : 0,
                                .length = size,
                                .remote = read ? peer->out : peer->in,
                                .rkey = peer->rkey,
                                .imm = size + 5});
    const struct ibv_wc wc = next_success(run);
    if (wc.wr_id != size) fail(run, "wr_id %d of %u", (int)wc.wr_id, size);
    if (read && wc.opcode != IBV_WC_RDMA_READ) fail(run, "opcode %d", (int)wc.opcode);
  } else if (takes_receive(which->opcode)) {
    check_receive(run, which, size);
  }
  meet(run);
  if (!receives) return;
  if (which->type == IBV_QPT_UC && size > 0) await_byte(run, &end->in[size - 1], 0xee);
  check_bytes(run, end->in, size, seed, "data");
  if (end->in[size] != 0xee) fail(run, "the byte behind %u bytes was written", size);
}

static void messages(struct run *run, const void *argument) {
  const struct message_case *which = argument;
  const struct peer peer = connect_peers(run, &(struct terms){.type = which->type, .mtu = which->mtu});
  if (which->large) {
    one_message(run, which, &peer, 1u << 20);
    one_message(run, which, &peer, 8u << 20);
    return;
  }
  const uint32_t mtu = 128u << which->mtu;
  const uint32_t sizes[] = {0, 1, 2, 3, 4, 7, mtu - 1, mtu, mtu + 1, 3 * mtu + 5, 65536};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) one_message(run, which, &peer, sizes[i]);
}

struct operation {
  const char *name;
  enum ibv_wr_opcode opcode;
};

static const struct operation operations[] = {{"send", IBV_WR_SEND},
                                              {"send imm", IBV_WR_SEND_WITH_IMM},
                                              {"write", IBV_WR_RDMA_WRITE},
                                              {"write imm", IBV_WR_RDMA_WRITE_WITH_IMM},
                                              {"read", IBV_WR_RDMA_READ}};

void add_message_cases(struct case_list *list) {
  for (int type = 0; type < 2; ++type) {
    for (int operation = 0; operation < (type == 0 ? 5 : 4); ++operation) {
      for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096 + 1; ++mtu) {
        const bool large = mtu > IBV_MTU_4096;
        struct message_case *which = list_keep(list, sizeof *which);
        *which = (struct message_case){.type = type == 0 ? IBV_QPT_RC : IBV_QPT_UC,
                                       .opcode = operations[operation].opcode,
                                       .mtu = large ? IBV_MTU_4096 : (enum ibv_mtu)mtu,
                                       .large = large};
        // UC loses a message with each of its packets: a large one tests the queues of the hosts.
        if (large && type == 1) continue;
        if (large) {
          list_add(list, messages, which, "rc %s 8 MiB", operations[operation].name);
        } else {
          list_add(list, messages, which, "%s %s mtu %u", type == 0 ? "rc" : "uc", operations[operation].name,
                   128u << mtu);
        }
      }
    }
  }
}
