// A queue pair: its attributes, its queues, and the state of the machines that work on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "nic/objects/cq.h"
#include "nic/objects/pd.h"
#include "nic/objects/qp/congestion_window.h"
#include "nic/objects/qp/replay_cache.h"
#include "nic/objects/qp/round_trip.h"
#include "nic/objects/qp/work_queue.h"
#include "nic/objects/srq.h"
#include "nic/shared/timer_heap.h"
#include "wire/headers.h"
#include "wire/opcode.h"
#include "wire/tunnel.h"

namespace verbs::soft::nic {

// One READ, atomic or the like on its way: the PSNs that its response takes.
struct AwaitedRange {
  std::uint32_t first_psn;
  std::uint32_t last_psn;
};

// What the requester and the completer remember of an RC or UD send queue.
struct RequesterState {
  std::uint32_t next_psn = 0;  // for the next request that starts
  std::uint32_t send_psn = 0;  // of the next packet to send; behind max_psn while repeating
  std::uint32_t max_psn = 0;   // one after the highest PSN ever sent
  std::uint32_t una_psn = 0;   // oldest unacknowledged
  std::uint32_t position = 0;  // send queue position of the request that send_psn belongs to
  std::uint32_t packet = 0;    // packet of that request
  std::uint32_t since_ack_request = 0;
  Nanos ask_anyway = 0;  // from then on a message asks for an acknowledgement, also if nobody waits for it
  std::uint32_t awaited_unfinished =
      0;  // READs, atomics and the like, started and not complete: a fence waits for them
  std::uint8_t retries_left = 0;
  std::uint8_t rnr_left = 0;
  bool waiting_rnr = false;
  std::uint8_t refusals = 0;       // RNR NAKs in a row
  bool recovering = false;         // repeating since una_psn
  std::uint32_t recovery_psn = 0;  // then: where repeating ends and new packets begin
  Window window;
  RoundTrip round_trip;
  Nanos ack_deadline = kNever;        // when the ACK timeout runs out; the timer may come before it, to probe
  std::uint8_t probes = 0;            // since the last sign of life
  std::vector<AwaitedRange> awaited;  // what is outstanding of them, oldest first (at most max_rd_atomic)
};

// What an RC responder owes its requester, in PSN order.
struct Response {
  enum class Kind : std::uint8_t { kAck, kNak, kRead, kAtomic };
  Kind kind = Kind::kAck;
  std::uint8_t syndrome = wire::kAckUnlimitedCredits;
  std::uint32_t psn = 0;  // next to send
  std::uint32_t msn = 0;
  std::uint32_t last_psn = 0;  // READ: of its last packet; else psn
  const Pd* pd = nullptr;      // READ: that the key must belong to
  std::uint32_t rkey = 0;
  std::uint32_t remaining = 0;  // READ: bytes still to send
  std::uint64_t address = 0;
  std::uint64_t original = 0;  // atomic: the value before it
  bool first = true;           // READ: nothing sent yet

  // Uses one of the responder's max_dest_rd_atomic resources.
  bool takes_resource() const { return kind == Kind::kRead || kind == Kind::kAtomic; }
};

struct ResponderState {
  enum class Message : std::uint8_t { kNone, kSend, kWrite };
  std::uint32_t expected_psn = 0;
  std::uint32_t msn = 0;
  bool nak_sent = false;             // one NAK, then silence until the expected PSN or a repetition comes
  std::uint32_t last_ahead_psn = 0;  // of the packets that came instead
  bool communication_established = false;
  Message message = Message::kNone;  // in the middle of one
  std::uint32_t offset = 0;          // bytes of the message so far
  std::uint32_t length = 0;          // WRITE: announced
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;
  std::vector<Response> ring;
  std::uint32_t ring_head = 0;
  std::uint32_t ring_count = 0;
  std::uint32_t resources = 0;  // that those take
  SavedResults results;
};

// The receive request that belongs to the message in progress. In the QP's own queue it stays the head until then.
struct TakenRecv {
  const RecvWqe* wqe = nullptr;  // nullptr: none is taken
  const ibv_sge* sges = nullptr;
  const Pd* pd = nullptr;  // that the keys of the SGEs belong to
  Srq* srq = nullptr;      // that it came from: then `wqe` and `sges` are the QP's copies
};

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
  Srq* srq = nullptr;             // instead of rq; of an XRC target only while a request is taken, which names it
  Xrcd* xrcd = nullptr;           // of an XRC target
  const Pd* remote_pd = nullptr;  // that remote keys must belong to: `pd`, or that of the SRQ that a request names
  std::uint32_t windows = 0;      // type 2 memory windows that it bound
  std::uint32_t groups = 0;       // multicast groups that it is attached to
  void* owner = nullptr;
  std::uint32_t number = 0;
  ibv_qp_type type = IBV_QPT_RC;
  wire::Transport transport = wire::Transport::kRc;  // of its packets
  ibv_qp_state state = IBV_QPS_RESET;
  bool sq_sig_all = false;
  bool sqd_notify = false;
  bool draining = false;
  bool self_loopback = false;  // RAW_PACKET: takes what its port sent to its own address
  ibv_qp_attr attr = {};       // what modify set, as query returns it
  wire::Path path;             // RC: to the connected peer
  // What the path's tunnel pointers point to.
  std::shared_ptr<const wire::Tunnel> request_tunnel;
  std::shared_ptr<const wire::Tunnel> response_tunnel;
  std::uint32_t mtu = 4096;

  SendQueue sq;
  RecvQueue rq;
  RequesterState req;
  ResponderState resp;
  TakenRecv recv;
  RecvWqe held_wqe = {};           // the request taken from a shared queue
  std::vector<ibv_sge> held_sges;  // room for its SGEs

  // Place in the list of QPs that have something to send.
  Qp* active_next = nullptr;
  Qp* active_previous = nullptr;
  bool active = false;

  bool may_send() const { return state == IBV_QPS_RTS || state == IBV_QPS_SQD; }
  bool may_receive() const { return state == IBV_QPS_RTR || state == IBV_QPS_SQE || may_send(); }
  // Its receive requests are not its own: nobody flushes them.
  bool is_fed_by_srq() const { return srq != nullptr || type == IBV_QPT_XRC_RECV; }
  // Packets are acknowledged, and repeated until they are.
  // Whether the request gives a completion when all goes well.
  bool signals(const SendWqe& wqe) const { return sq_sig_all || (wqe.flags & IBV_SEND_SIGNALED) != 0; }
  bool is_reliable() const { return type != IBV_QPT_UC && type != IBV_QPT_UD && type != IBV_QPT_RAW_PACKET; }
};

}  // namespace verbs::soft::nic
