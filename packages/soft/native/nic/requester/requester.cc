#include "nic/requester/requester.h"

#include <algorithm>

#include "nic/device/completion.h"
#include "nic/device/packet_builder.h"
#include "nic/device/send_data.h"
#include "nic/device/work_request.h"
#include "nic/requester/local_request.h"
#include "nic/shared/psn.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

using wire::Operation;

// READ requests are cut into pieces of this many response packets, so that the window holds for responses too. The cuts
// are at fixed places of the READ: a repeated piece must be a part of one that the responder has seen.
constexpr std::uint32_t kReadPiece = 16;
// An acknowledgement is asked for at the end of each message, at least once in so many packets, and a few times a
// window: so the window slides, and a lost packet is soon followed by one that shows the gap. A message that gives no
// completion asks only if none has for a while, which is less than the time after which an answer is missed.
constexpr std::uint32_t kAckEvery = 16;
constexpr std::uint32_t kAcksPerWindow = 4;
constexpr Nanos kAskAnyway = 500'000;
// How late an answer must be to be missed before the ACK timeout, in round trips and at least. It is asked for again
// after twice that time, and so on.
constexpr Nanos kLateRoundTrips = 4;
constexpr Nanos kLateAtLeast = 1'000'000;

std::uint32_t packets_of(const Qp& qp, const SendWqe& wqe) {
  const Answer answer = info_of(wqe.opcode).answer;
  if (wqe.length == 0 || (answer != Answer::kAcknowledgement && answer != Answer::kData)) return 1;
  return static_cast<std::uint32_t>((std::uint64_t{wqe.length} + qp.mtu - 1) / qp.mtu);
}

Operation operation_of(const SendWqe& wqe, bool first, bool last) {
  const WorkRequestInfo& info = info_of(wqe.opcode);
  if (first) return last ? info.only : info.first;
  return last ? info.last : info.middle;
}

// After a refusal one packet asks whether the peer has a receive by now: the others would be refused with it.
std::uint32_t window_of(const Qp& qp) { return qp.req.refusals > 0 ? 1 : qp.req.window.packets(); }

std::uint32_t window_left(const Qp& qp) {
  const auto in_flight = static_cast<std::uint32_t>(psn_diff(qp.req.send_psn, qp.req.una_psn));
  const std::uint32_t window = window_of(qp);
  return in_flight >= window ? 0 : window - in_flight;
}

std::uint32_t ack_interval(const Qp& qp) { return std::clamp(window_of(qp) / kAcksPerWindow, 1u, kAckEvery); }

bool asks(const Qp& qp, const SendWqe& wqe, bool last, Nanos now) {
  if (!qp.is_reliable()) return false;
  if (qp.req.since_ack_request >= ack_interval(qp)) return true;
  return last && (qp.signals(wqe) || now >= qp.req.ask_anyway);
}

void sent(Core& core, Qp& qp, std::uint32_t psns) {
  RequesterState& req = qp.req;
  if (psn_before(req.send_psn, req.max_psn)) ++core.counters.retransmitted_pkts;
  req.send_psn = psn_add(req.send_psn, psns);
  if (psn_before(req.max_psn, req.send_psn)) req.max_psn = req.send_psn;
  req.packet += psns;
  const bool last = req.packet >= qp.sq.at(req.position).packets;
  if (last) {
    ++req.position;
    req.packet = 0;
  }
  if (qp.is_reliable()) return;
  // Nothing will acknowledge it: what is sent is done.
  req.una_psn = req.send_psn;
  if (last) complete_send(core, qp, IBV_WC_SUCCESS);
}

// XRC: every packet of a request says which shared queue it is about.
void name_srq(PacketBuilder& packet, const Qp& qp, const SendWqe& wqe) {
  if (qp.transport == wire::Transport::kXrc) wire::Xrceth{wqe.remote_srqn}.emit(packet.xrceth());
}

// False when the memory of the request is gone.
bool send_data_packet(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  SendWqe& wqe = qp.sq.at(req.position);
  const bool first = req.packet == 0;
  const bool last = req.packet + 1 == wqe.packets;
  const std::size_t offset = static_cast<std::size_t>(req.packet) * qp.mtu;
  const std::size_t size = std::min<std::size_t>(qp.mtu, wqe.length - offset);
  const std::uint8_t opcode = wire::make_opcode(qp.transport, operation_of(wqe, first, last));

  PacketBuilder packet(core, core.port_of(qp), qp.path, opcode);
  if (!load_payload(core, qp, req.position, offset, packet.payload(), size)) return false;
  const wire::OpcodeInfo* info = wire::opcode_info(opcode);
  name_srq(packet, qp, wqe);
  if (info->has(wire::kHasReth)) wire::Reth{wqe.remote_addr, wqe.rkey, wqe.length}.emit(packet.reth());
  if (info->has(wire::kHasImmDt)) std::copy_n(reinterpret_cast<const std::uint8_t*>(&wqe.imm_data), 4, packet.imm_dt());
  if (info->has(wire::kHasIeth)) wire::store_be(packet.ieth(), std::uint32_t{wqe.imm_data});
  packet.bth.dest_qpn = qp.attr.dest_qp_num;
  packet.bth.psn = req.send_psn;
  packet.bth.solicited =
      last && (wqe.flags & IBV_SEND_SOLICITED) != 0 && (info->has(wire::kIsSend) || info->has(wire::kHasImmDt));
  ++req.since_ack_request;
  packet.bth.ack_req = asks(qp, wqe, last, now);
  if (packet.bth.ack_req) {
    req.since_ack_request = 0;
    req.ask_anyway = now + kAskAnyway;
    if (req.send_psn == req.max_psn) req.round_trip.sent(req.send_psn, now);
  }
  packet.send(size);
  sent(core, qp, 1);
  return true;
}

// The next piece of a READ.
void send_read_request(Core& core, Qp& qp) {
  RequesterState& req = qp.req;
  SendWqe& wqe = qp.sq.at(req.position);
  const std::uint32_t count = std::min(wqe.packets - req.packet, kReadPiece - req.packet % kReadPiece);
  const std::uint64_t offset = std::uint64_t{req.packet} * qp.mtu;
  const auto size =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{count} * qp.mtu, wqe.length - offset));

  PacketBuilder packet(core, core.port_of(qp), qp.path, wire::make_opcode(qp.transport, wire::kReadRequest));
  name_srq(packet, qp, wqe);
  wire::Reth{wqe.remote_addr + offset, wqe.rkey, size}.emit(packet.reth());
  packet.bth.dest_qpn = qp.attr.dest_qp_num;
  packet.bth.psn = req.send_psn;
  packet.bth.ack_req = true;
  packet.send(0);
  req.awaited.push_back({req.send_psn, psn_add(req.send_psn, count - 1)});
  sent(core, qp, count);
}

// An atomic, an ATOMIC WRITE or a FLUSH. False when the memory of the request is gone.
bool send_single(Core& core, Qp& qp) {
  RequesterState& req = qp.req;
  const SendWqe& wqe = qp.sq.at(req.position);
  const std::uint8_t opcode = wire::make_opcode(qp.transport, info_of(wqe.opcode).only);
  const wire::OpcodeInfo* info = wire::opcode_info(opcode);
  PacketBuilder packet(core, core.port_of(qp), qp.path, opcode);
  const std::size_t size = info->has(wire::kHasPayload) ? wqe.length : 0;
  if (!load_payload(core, qp, req.position, 0, packet.payload(), size)) return false;
  name_srq(packet, qp, wqe);
  if (info->has(wire::kHasReth)) wire::Reth{wqe.remote_addr, wqe.rkey, wqe.length}.emit(packet.reth());
  if (info->has(wire::kHasFeth)) wire::Feth{wqe.flush.type, wqe.flush.level}.emit(packet.feth());
  if (info->has(wire::kHasAtomicEth)) {
    wire::AtomicEth{wqe.remote_addr, wqe.rkey, wqe.atomic.swap_or_add, wqe.atomic.compare}.emit(packet.atomic_eth());
  }
  packet.bth.dest_qpn = qp.attr.dest_qp_num;
  packet.bth.psn = req.send_psn;
  packet.bth.ack_req = true;
  packet.send(size);
  req.awaited.push_back({req.send_psn, req.send_psn});
  sent(core, qp, 1);
  return true;
}

// The packet that is next. False when the memory of its request is gone.
bool send_packet(Core& core, Qp& qp, Nanos now) {
  switch (info_of(qp.sq.at(qp.req.position).opcode).answer) {
    case Answer::kAcknowledgement:
      return send_data_packet(core, qp, now);
    case Answer::kData:
      send_read_request(core, qp);
      return true;
    default:
      return send_single(core, qp);
  }
}

// The packet with `psn`, which has been sent before, or is the next one of the last request that was begun, is next.
void seek(Qp& qp, std::uint32_t psn) {
  RequesterState& req = qp.req;
  req.send_psn = psn;
  req.position = qp.sq.head;
  req.packet = 0;
  while (req.position != qp.sq.tail) {
    const SendWqe& wqe = qp.sq.at(req.position);
    if (!wqe.started) break;
    if (!psn_before(wqe.last_psn(), psn)) {
      req.packet = static_cast<std::uint32_t>(psn_diff(psn, wqe.first_psn));
      break;
    }
    ++req.position;
  }
}

enum class Step : std::uint8_t { kSent, kDone, kWait, kFailed };

Step start(Core& core, Qp& qp, SendWqe& wqe) {
  RequesterState& req = qp.req;
  if (qp.state == IBV_QPS_SQD) return Step::kWait;
  if ((wqe.flags & IBV_SEND_FENCE) != 0 && req.awaited_unfinished > 0) return Step::kWait;
  wqe.error = check_request(core, qp, req.position);
  if (wqe.error != IBV_WC_SUCCESS) return Step::kFailed;
  wqe.started = true;
  wqe.done = 0;
  wqe.packets = packets_of(qp, wqe);
  wqe.first_psn = req.next_psn;
  req.next_psn = psn_add(req.next_psn, wqe.packets);
  if (info_of(wqe.opcode).is_awaited()) ++req.awaited_unfinished;
  ++core.counters.rdma_sends;
  return Step::kSent;
}

// A request about our own objects waits until everything before it is complete: what it takes away may be in use there.
Step step_local(Core& core, Qp& qp, SendWqe& wqe) {
  if (qp.state == IBV_QPS_SQD || qp.sq.head != qp.req.position) return Step::kWait;
  wqe.error = run_local(core, qp, wqe);
  if (wqe.error != IBV_WC_SUCCESS) return Step::kFailed;
  complete_send(core, qp, IBV_WC_SUCCESS);
  qp.req.position = qp.sq.head;
  return Step::kDone;
}

Step step(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  SendWqe& wqe = qp.sq.at(req.position);
  if (wqe.error != IBV_WC_SUCCESS) return Step::kFailed;
  if (!wqe.started) {
    if (info_of(wqe.opcode).answer == Answer::kNone) return step_local(core, qp, wqe);
    if (window_left(qp) == 0) return Step::kWait;
    const Step started = start(core, qp, wqe);
    if (started != Step::kSent) return started;
  }
  if (window_left(qp) == 0) return Step::kWait;
  const WorkRequestInfo& info = info_of(wqe.opcode);
  if (info.is_awaited() && req.awaited.size() >= qp.attr.max_rd_atomic) return Step::kWait;
  if (send_packet(core, qp, now)) return Step::kSent;
  wqe.error = IBV_WC_LOC_PROT_ERR;
  return Step::kFailed;
}

void arm_probe(Core& core, Qp& qp, Nanos now) {
  const RequesterState& req = qp.req;
  const Nanos usual = req.round_trip.smoothed();
  const Nanos late = std::max(kLateRoundTrips * usual, kLateAtLeast) << req.probes;
  core.timers.arm(qp,
                  usual != 0 && req.probes < kMaxProbes ? std::min(now + late, req.ack_deadline) : req.ack_deadline);
}

}  // namespace

Nanos ack_timeout(const Qp& qp) { return qp.attr.timeout == 0 ? kNever : Nanos{4096} << qp.attr.timeout; }

void restart_ack_timer(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  if (qp.attr.timeout == 0) return;
  req.ack_deadline = now + ack_timeout(qp);
  arm_probe(core, qp, now);
}

void rewind(Qp& qp, std::uint32_t psn) {
  RequesterState& req = qp.req;
  seek(qp, psn);
  req.awaited.clear();
  req.round_trip.discard();
  req.since_ack_request = 0;
}

void probe(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  ++req.probes;
  arm_probe(core, qp, now);
  core.active.add(qp);
  if (!psn_before(req.una_psn, req.send_psn)) return;  // what has to be repeated has not gone yet
  const std::size_t outstanding = req.awaited.size();
  const std::uint32_t next = req.send_psn;
  seek(qp, psn_add(next, kPsnMask));
  req.round_trip.discard();
  req.recovery_psn = next;            // what is answered now is news even in the middle of a repetition
  req.since_ack_request = kAckEvery;  // whatever it is, it asks for an acknowledgement
  // If its memory is gone, the ACK timeout will find that out.
  if (!send_packet(core, qp, now)) seek(qp, next);
  req.awaited.resize(outstanding);
}

std::size_t run_requester(Core& core, Qp& qp, std::size_t budget, Nanos now) {
  if (!qp.may_send() || qp.req.waiting_rnr) return 0;
  std::size_t count = 0;
  while (count < budget && qp.req.position != qp.sq.tail) {
    const Step result = step(core, qp, now);
    if (result == Step::kWait) break;
    if (result == Step::kFailed) {
      // Earlier requests complete first; the completer comes back here when they have.
      if (qp.sq.head == qp.req.position) fail_send(core, qp, qp.sq.at(qp.sq.head).error);
      break;
    }
    if (result == Step::kSent) ++count;
  }
  if (count > 0 && qp.deadline == kNever) restart_ack_timer(core, qp, now);
  check_drained(core, qp);
  return count;
}

}  // namespace verbs::soft::nic
