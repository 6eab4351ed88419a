#include "nic/core/work_request.h"

#include <algorithm>
#include <initializer_list>

#include "nic/core/payload.h"

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

ibv_wc_status check_request(const Core& core, Qp& qp, std::uint32_t position) {
  const SendWqe& wqe = qp.sq.at(position);
  if (wqe.length > core.config.limits.max_msg_size) return IBV_WC_LOC_LEN_ERR;
  const WorkRequestInfo& info = info_of(wqe.opcode);
  if (info.has_own_response() && qp.attr.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if ((wqe.flags & IBV_SEND_INLINE) != 0) return IBV_WC_SUCCESS;
  // Devices look at the local keys of a READ or an atomic when they write its answer.
  if (info.writes_local() && !core.config.rules.strict) return IBV_WC_SUCCESS;
  const unsigned access = info.writes_local() ? static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE) : 0u;
  return check_sges(core.mrs, qp.pd, qp.sq.sges(position), wqe.num_sge, access);
}

bool load_payload(const Core& core, Qp& qp, std::uint32_t position, std::size_t offset, std::uint8_t* to,
                  std::size_t size) {
  const SendWqe& wqe = qp.sq.at(position);
  if ((wqe.flags & IBV_SEND_INLINE) != 0) {
    std::copy_n(qp.sq.inline_data(position) + offset, size, to);
    return true;
  }
  const ibv_sge* sges = qp.sq.sges(position);
  if (wqe.num_sge == 1 && size == sges->length && size > 0) {  // all of the one element
    const Mr* mr = core.mrs.find(sges->lkey, qp.pd, 0);
    if (mr == nullptr) return false;
    if (mr->null) return mr->read(to, sges->addr, size);
    const std::uint8_t* memory = mr->at(sges->addr, size);
    return memory != nullptr && guarded_copy(to, memory, size, mr->lasts());
  }
  return gather(core.mrs, qp.pd, sges, wqe.num_sge, offset, to, size);
}

void check_drained(Core& core, Qp& qp) {
  if (!qp.draining || qp.state != IBV_QPS_SQD || qp.req.una_psn != qp.req.next_psn) return;
  qp.draining = false;
  if (qp.sqd_notify) core.events.async({IBV_EVENT_SQ_DRAINED, &qp, nullptr, qp.attr.port_num});
}

}  // namespace verbs::soft::nic
