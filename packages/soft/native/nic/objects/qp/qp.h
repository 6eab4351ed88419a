// A queue pair: its attributes, its queues, and the state of the machines that work on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "nic/objects/completion_counter.h"
#include "nic/objects/cq.h"
#include "nic/objects/pd.h"
#include "nic/objects/qp/requester_state.h"
#include "nic/objects/qp/responder_state.h"
#include "nic/objects/qp/work_queue.h"
#include "nic/objects/srq.h"
#include "nic/shared/timer_heap.h"
#include "wire/opcode.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

class Xrcd;

inline wire::Transport transport_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_UC:
      return wire::Transport::kUc;
    case IBV_QPT_UD:
      return wire::Transport::kUd;
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      return wire::Transport::kXrc;
    case IBV_QPT_RAW_PACKET:
      return wire::Transport::kNone;
    default:
      return wire::Transport::kRc;
  }
}

class Qp : public TimerSlot {
 public:
  Pd* pd = nullptr;
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  Srq* srq = nullptr;             // instead of rq; an XRC target has one only while it handles a packet that names it
  Xrcd* xrcd = nullptr;           // of an XRC target
  const Pd* remote_pd = nullptr;  // the PD that remote keys must belong to: `pd`, or that of the SRQ of an XRC packet
  std::uint32_t windows = 0;      // type 2 memory windows bound through this QP
  std::uint32_t groups = 0;       // multicast groups that it is attached to
  void* owner = nullptr;
  std::uint32_t number = 0;
  ibv_qp_type type = IBV_QPT_RC;
  wire::Transport transport = wire::Transport::kRc;
  ibv_qp_state state = IBV_QPS_RESET;
  bool sq_sig_all = false;
  bool sqd_notify = false;
  bool draining = false;
  bool self_loopback = false;    // RAW_PACKET: receives frames that its port sent to its own address
  ibv_qp_attr attr = {};         // as modify set it and query returns it
  wire::Path path;               // RC, UC, XRC: to the connected peer
  wire::NetworkHeaders headers;  // of that path
  // The tunnels of an RC QP's packets (wire/tunnel.h); nullptr: plain RoCE v2.
  std::shared_ptr<const wire::Tunnel> request_tunnel;
  std::shared_ptr<const wire::Tunnel> response_tunnel;
  std::uint32_t mtu = 4096;
  std::unique_ptr<AttachedCounters> counters;  // nullptr without any

  SendQueue sq;
  RecvQueue rq;
  RequesterState req;
  ResponderState resp;
  CurrentRecv recv;
  RecvWqe srq_wqe = {};           // copy of the request that came from a shared receive queue
  std::vector<ibv_sge> srq_sges;  // room for its SGEs

  // Links of the ActiveList (core.h).
  Qp* active_next = nullptr;
  Qp* active_previous = nullptr;
  bool active = false;

  bool may_send() const { return state == IBV_QPS_RTS || state == IBV_QPS_SQD; }
  bool may_receive() const { return state == IBV_QPS_RTR || state == IBV_QPS_SQE || may_send(); }
  // Its receive requests come from a shared receive queue, which nobody flushes.
  bool uses_srq() const { return srq != nullptr || type == IBV_QPT_XRC_RECV; }
  // Packets are acknowledged, and retransmitted until they are.
  bool is_reliable() const { return type != IBV_QPT_UC && type != IBV_QPT_UD && type != IBV_QPT_RAW_PACKET; }
  // The request makes a completion when it succeeds.
  bool signals(const SendWqe& wqe) const { return sq_sig_all || (wqe.flags & IBV_SEND_SIGNALED) != 0; }

  // An operation completed.
  void count(CompletionCounter::Operation operation, ibv_wc_status status, std::uint32_t length) {
    if (counters == nullptr) [[likely]]
      return;
    if (CompletionCounter* counter = counters->by_operation[operation]) counter->count(status, length);
  }

  // The tunnel of the packets that this QP sends.
  const wire::Tunnel* send_tunnel(bool request) const { return (request ? request_tunnel : response_tunnel).get(); }
  // The tunnel of the packets that this QP receives: requests arrive by the way that its responses leave.
  const wire::Tunnel* receive_tunnel(bool request) const { return send_tunnel(!request); }
};

}  // namespace verbs::soft::nic
