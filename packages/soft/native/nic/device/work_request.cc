#include "nic/device/work_request.h"

#include <initializer_list>

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t types(std::initializer_list<ibv_qp_type> list) {
  std::uint32_t bits = 0;
  for (const ibv_qp_type type : list) bits |= 1u << type;
  return bits;
}

constexpr std::uint32_t kReliable = types({IBV_QPT_RC, IBV_QPT_XRC_SEND});
constexpr std::uint32_t kConnected = types({IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_XRC_SEND});
constexpr std::uint32_t kAll = types({IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND});

constexpr WorkRequestInfo message(std::uint32_t qp_types, ibv_wc_opcode completion, wire::Operation first,
                                  wire::Operation middle, wire::Operation last, wire::Operation only) {
  return {true, true, ExpectedResponse::kAcknowledge, completion, first, middle, last, only, qp_types};
}

// One packet, whatever its length.
constexpr WorkRequestInfo single(ibv_wc_opcode completion, wire::Operation only, ExpectedResponse response,
                                 bool may_be_inline) {
  return {true, may_be_inline, response, completion, only, only, only, only, kReliable};
}

constexpr WorkRequestInfo local(ibv_wc_opcode completion, std::uint32_t qp_types) {
  WorkRequestInfo info;
  info.defined = true;
  info.response = ExpectedResponse::kNone;
  info.completion = completion;
  info.qp_types = qp_types;
  return info;
}

}  // namespace

// Indexed by ibv_wr_opcode.
const WorkRequestInfo kWorkRequests[kWorkRequestKinds] = {
    // IBV_WR_RDMA_WRITE, _WITH_IMM
    message(kConnected, IBV_WC_RDMA_WRITE, wire::kWriteFirst, wire::kWriteMiddle, wire::kWriteLast, wire::kWriteOnly),
    message(kConnected, IBV_WC_RDMA_WRITE, wire::kWriteFirst, wire::kWriteMiddle, wire::kWriteLastImm,
            wire::kWriteOnlyImm),
    // IBV_WR_SEND, _WITH_IMM
    message(kAll | types({IBV_QPT_RAW_PACKET}), IBV_WC_SEND, wire::kSendFirst, wire::kSendMiddle, wire::kSendLast,
            wire::kSendOnly),
    message(kAll, IBV_WC_SEND, wire::kSendFirst, wire::kSendMiddle, wire::kSendLastImm, wire::kSendOnlyImm),
    // IBV_WR_RDMA_READ
    single(IBV_WC_RDMA_READ, wire::kReadRequest, ExpectedResponse::kReadData, false),
    // IBV_WR_ATOMIC_CMP_AND_SWP, _FETCH_AND_ADD
    single(IBV_WC_COMP_SWAP, wire::kCompareSwap, ExpectedResponse::kAtomicAcknowledge, false),
    single(IBV_WC_FETCH_ADD, wire::kFetchAdd, ExpectedResponse::kAtomicAcknowledge, false),
    // IBV_WR_LOCAL_INV, IBV_WR_BIND_MW
    local(IBV_WC_LOCAL_INV, kReliable),
    local(IBV_WC_BIND_MW, kConnected),
    // IBV_WR_SEND_WITH_INV
    message(kReliable, IBV_WC_SEND, wire::kSendFirst, wire::kSendMiddle, wire::kSendLastInvalidate,
            wire::kSendOnlyInvalidate),
    // IBV_WR_TSO and IBV_WR_DRIVER1, which no QP supports, and two unused values
    {},
    {},
    {},
    {},
    // IBV_WR_FLUSH, IBV_WR_ATOMIC_WRITE
    single(kWcFlush, wire::kFlush, ExpectedResponse::kEmptyRead, false),
    single(IBV_WC_ATOMIC_WRITE, wire::kAtomicWrite, ExpectedResponse::kEmptyRead, true),
};

}  // namespace verbs::soft::nic
