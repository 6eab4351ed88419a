// The state machine's table, against what ibv_modify_qp(3) says.
#include "nic/transitions.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <initializer_list>

using verbs::soft::nic::check_transition;

namespace {

constexpr int kRcInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRcRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRcRts =
    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

}  // namespace

TEST_CASE("each required attribute is required, and one that does not belong is refused") {
  struct Step {
    ibv_qp_state from, to;
    int mask;
  };
  for (const Step& step : {Step{IBV_QPS_RESET, IBV_QPS_INIT, kRcInit}, Step{IBV_QPS_INIT, IBV_QPS_RTR, kRcRtr},
                           Step{IBV_QPS_RTR, IBV_QPS_RTS, kRcRts}}) {
    CHECK(check_transition(IBV_QPT_RC, step.from, step.to, step.mask) == 0);
    for (int bit = IBV_QP_STATE << 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
      if ((step.mask & bit) != 0) CHECK(check_transition(IBV_QPT_RC, step.from, step.to, step.mask & ~bit) == EINVAL);
    }
    CHECK(check_transition(IBV_QPT_RC, step.from, step.to, step.mask | IBV_QP_QKEY) == EINVAL);
  }
}

TEST_CASE("states cannot be skipped; RESET and ERR are reached from everywhere") {
  CHECK(check_transition(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTR, kRcRtr) == EINVAL);
  CHECK(check_transition(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTS, kRcRts) == EINVAL);
  CHECK(check_transition(IBV_QPT_RC, IBV_QPS_ERR, IBV_QPS_RTS, IBV_QP_STATE) == EINVAL);
  for (int state = IBV_QPS_RESET; state <= IBV_QPS_ERR; ++state) {
    const auto from = static_cast<ibv_qp_state>(state);
    CHECK(check_transition(IBV_QPT_RC, from, IBV_QPS_RESET, IBV_QP_STATE) == 0);
    CHECK(check_transition(IBV_QPT_UD, from, IBV_QPS_ERR, IBV_QP_STATE) == 0);
    CHECK(check_transition(IBV_QPT_UD, from, IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_PORT) == EINVAL);
  }
}
