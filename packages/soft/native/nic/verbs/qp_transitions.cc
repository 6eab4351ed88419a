#include "nic/verbs/qp_transitions.h"

#include <cerrno>
#include <cstdint>
#include <initializer_list>

namespace verbs::soft::nic {
namespace {

struct Transition {
  ibv_qp_state from;
  ibv_qp_state to;
  std::uint32_t types;  // a bit for each ibv_qp_type
  int required;
  int optional;
};

constexpr std::uint32_t type_bits(std::initializer_list<ibv_qp_type> list) {
  std::uint32_t bits = 0;
  for (const ibv_qp_type type : list) bits |= 1u << type;
  return bits;
}

constexpr std::uint32_t kRc = type_bits({IBV_QPT_RC});
constexpr std::uint32_t kUc = type_bits({IBV_QPT_UC});
constexpr std::uint32_t kUd = type_bits({IBV_QPT_UD});
constexpr std::uint32_t kRaw = type_bits({IBV_QPT_RAW_PACKET});
constexpr std::uint32_t kInitiator = type_bits({IBV_QPT_XRC_SEND});
constexpr std::uint32_t kTarget = type_bits({IBV_QPT_XRC_RECV});
constexpr std::uint32_t kConnected = kRc | kUc | kInitiator | kTarget;
constexpr std::uint32_t kAll = kConnected | kUd | kRaw;

constexpr int kBasis = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
constexpr int kPeer = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kRequests = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kAnswers = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kAlternate = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int kRunning = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | kAlternate;
constexpr int kDrained = IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | kAlternate;

// IBTA table 91 (QP state transition properties), as the kernel applies it (ib_modify_qp_is_ok). IBV_QP_STATE is
// always allowed. The transitions to RESET and ERR, which have no attributes, are in check_transition().
constexpr Transition kTransitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, kConnected, kBasis | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_RESET, IBV_QPS_INIT, kUd, kBasis | IBV_QP_QKEY, 0},
    {IBV_QPS_RESET, IBV_QPS_INIT, kRaw, IBV_QP_PORT, 0},

    {IBV_QPS_INIT, IBV_QPS_INIT, kConnected, 0, kBasis | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_INIT, kUd, 0, kBasis | IBV_QP_QKEY},
    {IBV_QPS_INIT, IBV_QPS_INIT, kRaw, 0, 0},

    {IBV_QPS_INIT, IBV_QPS_RTR, kRc | kTarget, kPeer | kAnswers,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_INIT, IBV_QPS_RTR, kUc | kInitiator, kPeer, IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_INIT, IBV_QPS_RTR, kUd, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_INIT, IBV_QPS_RTR, kRaw, 0, 0},

    {IBV_QPS_RTR, IBV_QPS_RTS, kRc, kRequests | IBV_QP_SQ_PSN, kRunning | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTR, IBV_QPS_RTS, kInitiator, kRequests | IBV_QP_SQ_PSN, kRunning},
    {IBV_QPS_RTR, IBV_QPS_RTS, kTarget, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN, kRunning | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTR, IBV_QPS_RTS, kUc, IBV_QP_SQ_PSN, kRunning},
    {IBV_QPS_RTR, IBV_QPS_RTS, kUd, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_RTR, IBV_QPS_RTS, kRaw, 0, IBV_QP_RATE_LIMIT},

    {IBV_QPS_RTS, IBV_QPS_RTS, kRc | kTarget, 0, kRunning | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_RTS, IBV_QPS_RTS, kUc | kInitiator, 0, kRunning},
    {IBV_QPS_RTS, IBV_QPS_RTS, kUd, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_RTS, IBV_QPS_RTS, kRaw, 0, IBV_QP_RATE_LIMIT},

    {IBV_QPS_RTS, IBV_QPS_SQD, kConnected | kUd, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_RTS, IBV_QPS_SQD, kRaw, 0, 0},

    {IBV_QPS_SQD, IBV_QPS_RTS, kRc | kTarget, 0, kRunning | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPS_SQD, IBV_QPS_RTS, kUc | kInitiator, 0, kRunning},
    {IBV_QPS_SQD, IBV_QPS_RTS, kUd, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_SQD, IBV_QPS_RTS, kRaw, 0, 0},

    {IBV_QPS_SQD, IBV_QPS_SQD, kRc, 0, kDrained | IBV_QP_PORT | kRequests | kAnswers},
    {IBV_QPS_SQD, IBV_QPS_SQD, kInitiator, 0, kDrained | IBV_QP_PORT | kRequests},
    {IBV_QPS_SQD, IBV_QPS_SQD, kTarget, 0, kDrained | IBV_QP_PORT | IBV_QP_TIMEOUT | kAnswers},
    {IBV_QPS_SQD, IBV_QPS_SQD, kUc, 0, kDrained},
    {IBV_QPS_SQD, IBV_QPS_SQD, kUd, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_SQD, IBV_QPS_SQD, kRaw, 0, 0},

    {IBV_QPS_SQE, IBV_QPS_RTS, kUc, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_SQE, IBV_QPS_RTS, kUd, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_SQE, IBV_QPS_RTS, kRc | kInitiator | kTarget | kRaw, 0, 0},
};

}  // namespace

int applicable_attributes(ibv_qp_type type, int mask) {
  if (type == IBV_QPT_XRC_SEND) return mask & ~kAnswers;
  if (type == IBV_QPT_XRC_RECV) return mask & ~(IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
  return mask;
}

int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask, Why* why) {
  const auto refuse = [&](Reason reason, int attributes) {
    const auto bits = static_cast<std::uint32_t>(attributes);
    if (why == nullptr) return EINVAL;
    if (reason == Reason::kNoTransition) {
      *why = {reason, {type, from, to}};
    } else {
      *why = {reason, {from, to, type, bits}};
    }
    return EINVAL;
  };
  if (type > IBV_QPT_XRC_RECV || (kAll >> type & 1) == 0) return refuse(Reason::kNoTransition, 0);
  if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET)) {
    const int extra = mask & ~IBV_QP_STATE;
    return extra == 0 ? 0 : refuse(Reason::kExtraAttributes, extra);
  }
  for (const Transition& row : kTransitions) {
    if (row.from != from || row.to != to || (row.types >> type & 1) == 0) continue;
    if (const int missing = row.required & ~mask) return refuse(Reason::kMissingAttributes, missing);
    const int extra = mask & ~(row.required | row.optional | IBV_QP_STATE);
    return extra == 0 ? 0 : refuse(Reason::kExtraAttributes, extra);
  }
  return refuse(Reason::kNoTransition, 0);
}

}  // namespace verbs::soft::nic
