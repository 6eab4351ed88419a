#include "model/nic/reliable.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "model/nic/verbs.h"

namespace verbs::doca_comm::model {

int create_reliable(ibv_pd* pd, const ibv_qp_init_attr& init, ibv_qp** qp) {
  const Verbs* verbs = Verbs::get();
  ibv_qp_init_attr granted = init;
  granted.qp_type = IBV_QPT_RC;
  *qp = verbs->create_qp(pd, &granted);
  if (!*qp) return errno;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  // For writes of no bytes, which keep a connection alive or flush it. No memory is registered for remote access.
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  return verbs->modify_qp(*qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int connect_reliable(ibv_qp* qp, const ReliablePath& path) {
  const Verbs* verbs = Verbs::get();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = static_cast<ibv_mtu>(path.mtu);
  attr.dest_qp_num = path.qpn;
  attr.rq_psn = path.psn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.hop_limit = 64;
  std::copy(path.gid.begin(), path.gid.end(), attr.ah_attr.grh.dgid.raw);
  const int error = verbs->modify_qp(qp, &attr,
                                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return error;
  // A timeout of 268 ms and 4 retries, besides the NIC's earlier probes: a process may stand still for 1.3 seconds, and
  // a dead peer is detected 1.4 seconds after the next keep-alive. Keep-alives are 0.3 seconds apart.
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 16;
  attr.retry_cnt = 4;
  attr.rnr_retry = 7;
  attr.sq_psn = path.own_psn;
  attr.max_rd_atomic = 1;
  return verbs->modify_qp(
      qp, &attr,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int random_psn(std::uint32_t* psn) {
  if (getrandom(psn, sizeof *psn, 0) != sizeof *psn) return errno;
  *psn &= 0xffffff;
  return 0;
}

}  // namespace verbs::doca_comm::model
