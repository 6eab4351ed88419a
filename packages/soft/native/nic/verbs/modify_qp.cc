#include "nic/verbs/modify_qp.h"

#include <algorithm>
#include <cerrno>

#include "nic/device/qp_error.h"
#include "nic/shared/psn.h"
#include "nic/verbs/qp_transitions.h"

namespace verbs::soft::nic {
namespace {

constexpr std::uint32_t kMaxQpn = 0xffffff;

int check_attributes(Core& core, const Qp& qp, const ibv_qp_attr& attr, int mask) {
  const Limits& limits = core.config.limits;
  const auto bad = [mask](int bit, bool condition) { return (mask & bit) != 0 && condition; };
  if (bad(IBV_QP_PORT, core.port(attr.port_num) == nullptr) || bad(IBV_QP_PKEY_INDEX, attr.pkey_index != 0) ||
      bad(IBV_QP_PATH_MTU, attr.path_mtu < IBV_MTU_256 || attr.path_mtu > core.port_of(qp).active_mtu()) ||
      bad(IBV_QP_DEST_QPN, attr.dest_qp_num > kMaxQpn) || bad(IBV_QP_TIMEOUT, attr.timeout > 31) ||
      bad(IBV_QP_RETRY_CNT, attr.retry_cnt > 7) || bad(IBV_QP_RNR_RETRY, attr.rnr_retry > 7) ||
      bad(IBV_QP_MIN_RNR_TIMER, attr.min_rnr_timer > 31) ||
      bad(IBV_QP_MAX_QP_RD_ATOMIC, attr.max_rd_atomic > limits.max_qp_init_rd_atom) ||
      bad(IBV_QP_MAX_DEST_RD_ATOMIC, attr.max_dest_rd_atomic > limits.max_qp_rd_atom) ||
      bad(IBV_QP_RATE_LIMIT, attr.rate_limit != 0) ||  // no packet pacing
      // The kernel bans alternate paths on RoCE, so the path has always migrated.
      bad(IBV_QP_ALT_PATH, true) || bad(IBV_QP_PATH_MIG_STATE, attr.path_mig_state != IBV_MIG_MIGRATED)) {
    return EINVAL;
  }
  if ((mask & IBV_QP_AV) == 0) return 0;
  // Without IBV_QP_PORT in this call, the port is the one that the move to INIT named.
  Port* port = core.port((mask & IBV_QP_PORT) != 0 ? attr.port_num : qp.attr.port_num);
  wire::Path path;
  if (port == nullptr || core.port(attr.ah_attr.port_num) == nullptr) return EINVAL;
  if (const int error = port->resolve(attr.ah_attr, &path)) return error;
  return path.dgid.is_multicast() ? EINVAL : 0;
}

void store(Qp& qp, const ibv_qp_attr& attr, int mask) {
  ibv_qp_attr& to = qp.attr;
  if ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0) qp.sqd_notify = attr.en_sqd_async_notify != 0;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) to.qp_access_flags = attr.qp_access_flags;
  if ((mask & IBV_QP_PKEY_INDEX) != 0) to.pkey_index = attr.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) to.port_num = attr.port_num;
  if ((mask & IBV_QP_QKEY) != 0) to.qkey = attr.qkey;
  if ((mask & IBV_QP_AV) != 0) to.ah_attr = attr.ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) to.path_mtu = attr.path_mtu;
  if ((mask & IBV_QP_TIMEOUT) != 0) to.timeout = attr.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) to.retry_cnt = attr.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) to.rnr_retry = attr.rnr_retry;
  if ((mask & IBV_QP_RQ_PSN) != 0) to.rq_psn = attr.rq_psn & kPsnMask;
  if ((mask & IBV_QP_SQ_PSN) != 0) to.sq_psn = attr.sq_psn & kPsnMask;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) to.max_rd_atomic = attr.max_rd_atomic;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) to.max_dest_rd_atomic = attr.max_dest_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) to.min_rnr_timer = attr.min_rnr_timer;
  if ((mask & IBV_QP_DEST_QPN) != 0) to.dest_qp_num = attr.dest_qp_num;
}

// Puts the requester and the responder where the attributes say.
void apply(Core& core, Qp& qp, int mask) {
  Port& port = core.port_of(qp);
  if ((mask & IBV_QP_AV) != 0) {
    port.resolve(qp.attr.ah_attr, &qp.path);
    qp.path.source_port = port.source_port(qp.path.flow_label, qp.number, qp.attr.dest_qp_num);
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) qp.mtu = mtu_bytes(qp.attr.path_mtu);
  if ((mask & IBV_QP_RQ_PSN) != 0) qp.resp.expected_psn = qp.attr.rq_psn;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) {
    qp.resp.responses.allocate(qp.attr.max_dest_rd_atomic);
    qp.resp.replay_cache.allocate(qp.attr.max_dest_rd_atomic);
  }
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) qp.req.outstanding.reserve(qp.attr.max_rd_atomic + 1u);  // and the probe
  if ((mask & IBV_QP_RETRY_CNT) != 0) qp.req.retries_left = qp.attr.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) qp.req.rnr_retries_left = qp.attr.rnr_retry;
  if ((mask & IBV_QP_SQ_PSN) != 0) {
    qp.req.next_psn = qp.req.send_psn = qp.req.max_psn = qp.req.una_psn = qp.attr.sq_psn;
  }
}

void reset(Core& core, Qp& qp) {
  core.timers.cancel(qp);
  core.active.remove(qp);
  qp.sq.clear();
  qp.rq.clear();
  // Its old completions, flushed requests above all, would be taken for those of its next life.
  if (qp.send_cq != nullptr) qp.send_cq->clean(qp.number);
  if (qp.recv_cq != nullptr && qp.recv_cq != qp.send_cq) qp.recv_cq->clean(qp.number);
  const std::uint32_t position = qp.sq.head;
  qp.req = RequesterState{};
  qp.req.position = position;
  qp.resp = ResponderState{};
  qp.recv = {};
  const ibv_qp_cap cap = qp.attr.cap;
  qp.attr = {};
  qp.attr.cap = cap;
  qp.attr.path_mtu = IBV_MTU_256;
  qp.attr.port_num = 1;
  qp.sqd_notify = qp.draining = false;
}

}  // namespace

int lay_out_qp(Core& core, ibv_qp_init_attr& init, Qp& qp) {
  const Limits& limits = core.config.limits;
  ibv_qp_cap& cap = init.cap;
  const bool initiator = init.qp_type == IBV_QPT_XRC_SEND;
  const bool target = init.qp_type == IBV_QPT_XRC_RECV;
  const bool raw = init.qp_type == IBV_QPT_RAW_PACKET && core.config.steering != nullptr;
  if (init.qp_type != IBV_QPT_RC && init.qp_type != IBV_QPT_UC && init.qp_type != IBV_QPT_UD && !initiator && !target &&
      !raw) {
    return EOPNOTSUPP;
  }
  const auto wr_limit = static_cast<std::uint32_t>(limits.max_qp_wr);
  const auto sge_limit = static_cast<std::uint32_t>(limits.max_sge);
  // With a shared receive queue the QP has none, whatever is asked for (ibv_create_qp(3)); each half of XRC lacks its
  // other half's.
  if (target) cap = {};
  if (qp.srq != nullptr || initiator) cap.max_recv_wr = cap.max_recv_sge = 0;
  if (cap.max_send_wr > wr_limit || cap.max_recv_wr > wr_limit || cap.max_send_sge > sge_limit ||
      cap.max_recv_sge > sge_limit || cap.max_inline_data > static_cast<std::uint32_t>(limits.max_inline_data)) {
    return EINVAL;
  }
  qp.type = init.qp_type;
  qp.transport = transport_of(init.qp_type);
  qp.sq_sig_all = init.sq_sig_all != 0;
  qp.sq.allocate(cap.max_send_wr, cap.max_send_sge, cap.max_inline_data, init.qp_type == IBV_QPT_UD);
  qp.rq.allocate(cap.max_recv_wr, cap.max_recv_sge);
  cap.max_send_wr = qp.sq.capacity();
  cap.max_recv_wr = qp.rq.capacity();
  qp.attr.cap = cap;
  qp.attr.path_mtu = IBV_MTU_256;
  qp.attr.port_num = 1;
  qp.mtu = mtu_bytes(core.ports[0].active_mtu());
  return 0;
}

int modify_qp(Core& core, Qp& qp, const ibv_qp_attr& attr, int mask) {
  if ((mask & IBV_QP_CUR_STATE) != 0 && attr.cur_qp_state != qp.state) return EINVAL;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr.qp_state : qp.state;
  if (const int error = check_transition(qp.type, qp.state, to, mask)) return error;
  // What has not been drained cannot go on yet (IBTA 10.3.1.5).
  if (qp.draining && (mask & IBV_QP_STATE) != 0 && to != IBV_QPS_RESET && to != IBV_QPS_ERR) return EINVAL;
  if (const int error = check_attributes(core, qp, attr, mask)) return error;

  if (to == IBV_QPS_RESET) {
    reset(core, qp);
  } else if (to == IBV_QPS_ERR) {
    enter_error(core, qp);
  } else {
    store(qp, attr, mask);
    apply(core, qp, mask);
  }
  if (to != qp.state) qp.draining = to == IBV_QPS_SQD;
  qp.state = qp.attr.qp_state = to;
  // What was posted may go now, or a drained queue is to be told.
  if (qp.may_send()) core.active.add(qp);
  return 0;
}

void query_qp(const Qp& qp, ibv_qp_attr& attr, ibv_qp_init_attr& init) {
  attr = qp.attr;
  attr.qp_state = attr.cur_qp_state = qp.state;
  attr.path_mig_state = IBV_MIG_MIGRATED;
  attr.sq_psn = qp.req.next_psn;
  attr.rq_psn = qp.resp.expected_psn;
  attr.sq_draining = qp.draining ? 1 : 0;
  init.cap = qp.attr.cap;
  init.qp_type = qp.type;
  init.sq_sig_all = qp.sq_sig_all ? 1 : 0;
}

}  // namespace verbs::soft::nic
