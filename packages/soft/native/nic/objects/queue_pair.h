// A queue pair, and the state of its requester.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "link/message.h"
#include "link/neighbour.h"
#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/objects/completion_queue.h"
#include "nic/objects/indirection_table.h"
#include "nic/objects/protection_domain.h"
#include "nic/objects/responder_state.h"
#include "nic/objects/shared_receive.h"
#include "nic/objects/work_queue.h"
#include "wire/opcode.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

// The congestion window of an RC requester: how many packets may be unacknowledged. A lost packet takes an eighth of
// it, acknowledged packets grow it (additive increase, multiplicative decrease). Nothing else slows the requester down,
// and the receiver's socket buffer is finite. On a path that loses one packet in a hundred, which the kernel's buffers
// do not, a window that halves stays near its minimum, and a stream has half of the rate.
class CongestionWindow {
 public:
  static constexpr std::uint32_t kInitial = 32;
  static constexpr std::uint32_t kMinimum = 8;
  static constexpr std::uint32_t kMaximum = 128;

  // Packets that a window of acknowledged ones adds.
  static constexpr std::uint32_t kGrowth = 2;

  std::uint32_t packets() const { return packets_; }

  void acknowledged(std::uint32_t count) {
    credit_ += count;
    while (credit_ >= packets_ / kGrowth && packets_ < kMaximum) {
      credit_ -= packets_ / kGrowth;
      ++packets_;
    }
    credit_ = std::min(credit_, packets_);
  }

  void lost() {
    packets_ = std::max(packets_ - packets_ / 8, kMinimum);
    credit_ = 0;
  }

 private:
  std::uint32_t packets_ = kInitial;
  std::uint32_t credit_ = 0;
};

// The smoothed round-trip time of an RC requester, measured on one packet at a time.

class RoundTrip {
 public:
  // A packet that asks for an acknowledgement leaves.
  void sent(std::uint32_t psn, Nanos now) {
    if (measuring_) return;
    measuring_ = true;
    psn_ = psn;
    sent_at_ = now;
  }

  void acknowledged(std::uint32_t una, Nanos now) {
    if (!measuring_ || !psn_before(psn_, una)) return;
    measuring_ = false;
    const Nanos sample = now - sent_at_;
    smoothed_ = smoothed_ == 0 ? sample : smoothed_ + (sample - smoothed_) / 8;
  }

  // The packet is retransmitted: its acknowledgement may belong to either copy (Karn's algorithm).
  void discard() { measuring_ = false; }

  // 0 until a first sample.
  Nanos smoothed() const { return smoothed_; }

 private:
  bool measuring_ = false;
  std::uint32_t psn_ = 0;
  Nanos sent_at_ = 0;
  Nanos smoothed_ = 0;
};

// The state of the requester and the completer of a send queue.

// The PSNs of one outstanding response: to a READ piece, an atomic, an ATOMIC WRITE or a FLUSH.
struct OutstandingResponse {
  std::uint32_t first_psn;
  std::uint32_t last_psn;
};

struct RequesterState {
  std::uint32_t next_psn = 0;   // for the next request that starts
  std::uint32_t send_psn = 0;   // of the next packet to send; behind max_psn while retransmitting
  std::uint32_t max_psn = 0;    // one after the highest PSN ever sent
  std::uint32_t una_psn = 0;    // oldest unacknowledged
  std::uint32_t position = 0;   // send queue position of the request that send_psn belongs to
  std::uint32_t packet = 0;     // index of the packet with send_psn in that request
  bool refers = false;          // unanswered packets refer to their payload, or their responses may
  std::uint8_t by_payload = 0;  // messages until the next one may: an end could not read it
  bool unexecuted = false;      // the peer has done nothing of what is sent again: it was not ready
  std::uint32_t since_ack_request = 0;
  Nanos ack_request_due = 0;  // from then on an unsignaled message asks for an acknowledgement too
  // Requests with a response of their own (work_request.h) that started and are not complete. A fence waits for them.
  std::uint32_t unanswered_requests = 0;
  std::uint8_t retries_left = 0;
  std::uint8_t rnr_retries_left = 0;
  bool waiting_rnr = false;
  std::uint8_t rnr_naks = 0;       // in a row
  bool recovering = false;         // retransmitting since una_psn
  std::uint32_t recovery_psn = 0;  // while recovering: the first PSN that is no retransmission
  CongestionWindow congestion_window;
  RoundTrip round_trip;
  Nanos ack_deadline = kNever;           // when the ACK timeout expires; the timer may fire before it, for a probe
  std::uint8_t probes = 0;               // since the last acknowledgement
  bool timed_out = false;                // the ACK timeout expired since then
  std::uint64_t retransmitted_pkts = 0;  // of this queue pair, as the device's counters
  std::uint64_t rcvd_rnr_err = 0;
  // Oldest first, at most max_rd_atomic.
  std::vector<OutstandingResponse> outstanding;
};

// A queue pair: its attributes, its queues, and the state of the machines that work on it.

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
  std::uint32_t holders = 0;      // flows to it, and places in indirection tables
  void* owner = nullptr;
  std::uint32_t number = 0;
  ibv_qp_type type = IBV_QPT_RC;
  wire::Transport transport = wire::Transport::kRc;
  ibv_qp_state state = IBV_QPS_RESET;
  bool sq_sig_all = false;
  bool sqd_notify = false;
  bool draining = false;
  bool is_receive_queue = false;  // RAW_PACKET: it is an ibv_wq
  bool self_loopback = false;     // RAW_PACKET: receives frames that its port sent to its own address
  bool matches_tags = false;      // its `srq` is of type TM, and its send queue the NIC's own (core/rendezvous.h)
  ibv_qp_attr attr = {};          // as modify set it and query returns it
  wire::Path path;                // RC, UC, XRC: to the connected peer
  wire::NetworkHeaders headers;   // of that path
  // The tunnels of an RC QP's packets (wire/tunnel.h); nullptr: plain RoCE v2.
  std::shared_ptr<const wire::Tunnel> request_tunnel;
  std::shared_ptr<const wire::Tunnel> response_tunnel;
  std::uint32_t mtu = 4096;
  // As of that version of the neighbourhood (core/ways.h): the peer's NIC, if messages may be handed to it.
  std::shared_ptr<link::Neighbour> neighbour;
  // Else the way on which packets may be messages (link/message.h), and what each has of the path.
  link::MessageWay* way = nullptr;
  link::Message::Route route;
  std::uint64_t neighbourhood = 0;
  std::unique_ptr<AttachedCounters> counters;  // nullptr without any
  // RAW_PACKET: frames go to receive work queues. Such a queue pair has no queue of its own, no CQ and no states.
  std::unique_ptr<Spread> spread;

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
