// The operations of the matrix.
#pragma once

#include <infiniband/verbs.h>

#include <string>
#include <vector>

namespace verbs::soft::test::faults {

struct Operation {
  const char* name;
  ibv_qp_type type;
  std::vector<ibv_wr_opcode> opcodes;  // message i is of the kind i modulo their number
  const char* last;                    // opcode of a message's last packet, as fault rules name it
};

inline bool reliable(const Operation& operation) { return operation.type == IBV_QPT_RC; }
inline bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}
inline bool is_send(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}
inline bool is_write(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_ATOMIC_WRITE;
}
inline bool has_imm(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}
// Whether a message of this kind uses a receive request.
inline bool is_received(ibv_wr_opcode opcode) { return is_send(opcode) || has_imm(opcode); }

inline const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"send", IBV_QPT_RC, {IBV_WR_SEND}, "rc_send_last"},
      {"send_imm", IBV_QPT_RC, {IBV_WR_SEND_WITH_IMM}, "rc_send_last_with_immediate"},
      {"send_inv", IBV_QPT_RC, {IBV_WR_SEND_WITH_INV}, "rc_send_last_with_invalidate"},
      {"write", IBV_QPT_RC, {IBV_WR_RDMA_WRITE}, "rc_write_last"},
      {"write_imm", IBV_QPT_RC, {IBV_WR_RDMA_WRITE_WITH_IMM}, "rc_write_last_with_immediate"},
      {"read", IBV_QPT_RC, {IBV_WR_RDMA_READ}, "rc_read_request"},
      {"cmp_swap", IBV_QPT_RC, {IBV_WR_ATOMIC_CMP_AND_SWP}, "rc_cmpswap"},
      {"fetch_add", IBV_QPT_RC, {IBV_WR_ATOMIC_FETCH_AND_ADD}, "rc_fetchadd"},
      {"atomic_write", IBV_QPT_RC, {IBV_WR_ATOMIC_WRITE}, "rc_atomic_write"},
      {"mixed",
       IBV_QPT_RC,
       {IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
        IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND_WITH_INV, IBV_WR_ATOMIC_WRITE},
       "rc_send_last"},
      {"uc_send", IBV_QPT_UC, {IBV_WR_SEND}, "uc_send_last"},
      {"uc_send_imm", IBV_QPT_UC, {IBV_WR_SEND_WITH_IMM}, "uc_send_last_with_immediate"},
      {"uc_write", IBV_QPT_UC, {IBV_WR_RDMA_WRITE}, "uc_write_last"},
      {"uc_write_imm", IBV_QPT_UC, {IBV_WR_RDMA_WRITE_WITH_IMM}, "uc_write_last_with_immediate"},
      {"ud_send", IBV_QPT_UD, {IBV_WR_SEND}, "ud_send_only"},
      {"ud_send_imm", IBV_QPT_UD, {IBV_WR_SEND_WITH_IMM}, "ud_send_only_with_immediate"},
  };
  return all;
}

}  // namespace verbs::soft::test::faults
