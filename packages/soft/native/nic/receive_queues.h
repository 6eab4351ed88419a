// Receive work queues and receive side scaling: ibv_create_wq, ibv_create_rwq_ind_table, and the hash that chooses the
// queue of a frame.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "nic/flow_match.h"
#include "nic/verbs/qp_control.h"

namespace verbs::soft::nic {

// -- receive side scaling

inline constexpr std::uint64_t kHashFields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_IPV6 |
                                             IBV_RX_HASH_DST_IPV6 | IBV_RX_HASH_SRC_PORT_TCP |
                                             IBV_RX_HASH_DST_PORT_TCP | IBV_RX_HASH_SRC_PORT_UDP |
                                             IBV_RX_HASH_DST_PORT_UDP | IBV_RX_HASH_INNER;
inline constexpr std::uint32_t kMaxIndirection = 1u << 10;  // queues of a table

// 0; EINVAL (a key of another length than 40 bytes) or EOPNOTSUPP (another function than Toeplitz's, or another field).
int read_hash(const ibv_rx_hash_conf& conf, Spread* spread);
// The Toeplitz hash of the chosen fields that the frame has, in the order of the addresses and then the ports; 0
// without any.
std::uint32_t hash_of(const Spread& spread, const FrameFields& fields);

// The queue of a frame of 14 bytes or more.
Qp* queue_of(const Spread& spread, std::span<const std::uint8_t> frame);

// -- receive work queues

inline ibv_wq_state wq_state_of(const Qp& queue) {
  if (queue.state == IBV_QPS_RESET) return IBV_WQS_RESET;
  return queue.state == IBV_QPS_ERR ? IBV_WQS_ERR : IBV_WQS_RDY;
}

class ReceiveQueues {
 public:
  ReceiveQueues(Core& core, QpControl& qps) : core_(core), qps_(qps) {}

  // `owner` as in QpControl. Updates max_wr and max_sge. 0, EINVAL (another type, no requests, a limit), EOPNOTSUPP
  // (flags, or a device without raw packets) or ENOMEM.
  int create(const QpParts& parts, ibv_wq_init_attr* attr, void* owner, Qp** queue);
  // 0, EINVAL (an unknown attribute, another current state, or from ERR to RDY) or EOPNOTSUPP (flags).
  int modify(Qp* queue, const ibv_wq_attr& attr);
  int destroy(Qp* queue) { return qps_.destroy(queue); }  // 0, or EBUSY while it is in a table

  // 0, or EINVAL unless there is a power of two of them, at most kMaxIndirection.
  int make_table(std::span<Qp* const> queues, IndirectionTable* table);
  int release_table(IndirectionTable* table);  // 0, or EBUSY while a queue pair has it

 private:
  Core& core_;
  QpControl& qps_;
};

}  // namespace verbs::soft::nic
