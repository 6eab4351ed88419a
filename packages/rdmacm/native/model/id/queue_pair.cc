#include "model/id/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "model/device/soft.h"

namespace verbs::rdmacm::model {
namespace {

int modify(Id& id, ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  int mask = 0;
  if (const int error = init_attr(id, &attr, &mask)) return error;
  return soft()->modify_qp(qp, &attr, mask);
}

void init(Id& id, ibv_qp_attr* attr, int* mask) {
  attr->pkey_index = 0;
  attr->port_num = id.cm.port_num;
  *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (id.is_datagram()) {
    attr->qkey = id.qkey;
    *mask |= IBV_QP_QKEY;
    return;
  }
  attr->qp_access_flags = 0;
  if (id.connection != 0) {
    attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    if (id.responder_resources > 0) attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  *mask |= IBV_QP_ACCESS_FLAGS;
}

void ready_to_receive(Id& id, ibv_qp_attr* attr, int* mask) {
  attr->ah_attr = {};
  attr->ah_attr.is_global = 1;
  attr->ah_attr.port_num = id.cm.port_num;
  std::memcpy(attr->ah_attr.grh.dgid.raw, id.path.dgid, 16);
  attr->ah_attr.grh.sgid_index = static_cast<std::uint8_t>(id.place.gid_index);
  attr->ah_attr.grh.hop_limit = id.path.hop_limit;
  attr->ah_attr.grh.traffic_class = id.path.traffic_class;
  attr->ah_attr.grh.flow_label = id.path.flow_label;
  attr->path_mtu = static_cast<ibv_mtu>(id.path_mtu);
  attr->dest_qp_num = id.peer.qp_num;
  attr->rq_psn = id.psn;
  *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (id.cm.qp_type != IBV_QPT_RC && id.cm.qp_type != IBV_QPT_XRC_RECV) return;
  attr->max_dest_rd_atomic = id.responder_resources;
  attr->min_rnr_timer = 0;  // the longest one, as the kernel sets it
  *mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

void ready_to_send(Id& id, ibv_qp_attr* attr, int* mask) {
  attr->sq_psn = id.peer.psn;
  *mask |= IBV_QP_SQ_PSN;
  if (id.cm.qp_type == IBV_QPT_UC) return;
  attr->timeout = id.ack_timeout;
  *mask |= IBV_QP_TIMEOUT;
  if (id.cm.qp_type == IBV_QPT_XRC_RECV) return;
  attr->retry_cnt = id.retry_count;
  attr->rnr_retry = id.peer.rnr_retry_count;
  attr->max_rd_atomic = id.initiator_depth;
  *mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

}  // namespace

int init_attr(Id& id, ibv_qp_attr* attr, int* mask) {
  if (!id.device()) return EINVAL;
  *mask = IBV_QP_STATE;
  const bool known_peer = id.peer.qp_num != 0;
  switch (attr->qp_state) {
    case IBV_QPS_INIT:
      init(id, attr, mask);
      return 0;
    case IBV_QPS_RTR:
      if (id.is_datagram()) return 0;
      if (!known_peer) return EINVAL;
      ready_to_receive(id, attr, mask);
      return 0;
    case IBV_QPS_RTS:
      if (id.is_datagram()) {
        attr->sq_psn = 0;
        *mask |= IBV_QP_SQ_PSN;
        return 0;
      }
      if (!known_peer) return EINVAL;
      ready_to_send(id, attr, mask);
      return 0;
    default:
      return EINVAL;
  }
}

int query_attr(Id& id, ibv_qp_attr* attr, int* mask) {
  if (static_cast<unsigned>(attr->qp_state) > IBV_QPS_ERR || !id.device()) return EINVAL;
  if (id.connection != 0 && !id.is_datagram()) return init_attr(id, attr, mask);
  *mask = IBV_QP_STATE;
  init(id, attr, mask);
  return 0;
}

int start(Id& id, ibv_qp* qp) {
  if (const int error = modify(id, qp, IBV_QPS_INIT)) return error;
  if (!id.is_datagram()) return 0;
  if (const int error = modify(id, qp, IBV_QPS_RTR)) return error;
  return modify(id, qp, IBV_QPS_RTS);
}

int connect(Id& id) {
  // After a lack of memory it goes on from where it was.
  const ibv_qp_state state = std::exchange(id.connecting, true) ? id.cm.qp->state : IBV_QPS_INIT;
  if (state == IBV_QPS_RTS) return 0;
  if (state != IBV_QPS_RTR) {
    // Again: the rights depend on the connection's parameters.
    if (const int error = modify(id, id.cm.qp, IBV_QPS_INIT)) return error;
    if (const int error = modify(id, id.cm.qp, IBV_QPS_RTR)) return error;
  }
  return modify(id, id.cm.qp, IBV_QPS_RTS);
}

int stop(Id& id) {
  if (!id.cm.qp) return 0;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  return soft()->modify_qp(id.cm.qp, &attr, IBV_QP_STATE);
}

}  // namespace verbs::rdmacm::model
