#include "nic/requester.h"

#include <algorithm>
#include <cstring>

#include "nic/base/limits.h"
#include "nic/core/completion.h"
#include "nic/core/core.h"
#include "nic/core/packet_builder.h"
#include "nic/core/payload.h"
#include "nic/core/ways.h"
#include "nic/core/work_request.h"
#include "nic/responder/messages.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

// Local send requests: they put nothing on the wire and change an object of this NIC.

// Executes a bind or a local invalidate of a memory window.
ibv_wc_status run_local(Core& core, Qp& qp, const SendWqe& wqe) {
  if (wqe.opcode == IBV_WR_LOCAL_INV) {
    return core.mws.invalidate(qp, wqe.rkey) ? IBV_WC_SUCCESS : core.config.rules.failed_invalidate;
  }
  const MwBind bind{.rkey = wqe.rkey,
                    .key_byte = wqe.key_byte,
                    .lkey = wqe.bind.lkey,
                    .address = wqe.remote_addr,
                    .length = wqe.bind.length,
                    .access = wqe.bind.access};
  return core.mws.bind(qp, bind) ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
}

using wire::Operation;

// READ requests are split into pieces of this many response packets, so that the congestion window holds for responses
// too, or of as many as a response that refers to its payload stands for. The pieces begin at fixed offsets of the
// READ: a retransmitted piece must be part of one that the responder has seen.
constexpr std::uint32_t kReadPiece = 16;
// The requester asks for an acknowledgement at the end of each message, at least once in kAckEvery packets, and
// kAcksPerWindow times a congestion window: the window slides, and the packet after a lost one soon shows the gap. An
// unsignaled message asks only if no packet asked for kAckRequestInterval, which is shorter than the first probe, or if
// what comes next waits for the answer.
constexpr std::uint32_t kAckEvery = 16;
constexpr std::uint32_t kAcksPerWindow = 4;
constexpr Nanos kAckRequestInterval = 500'000;
// The first probe is due after this many round trips, but not before kMinProbeDelay. The delay doubles with each probe.
constexpr Nanos kProbeRoundTrips = 4;
constexpr Nanos kMinProbeDelay = 1'000'000;

// Bytes that may be unacknowledged while packets refer to their payload: enough that the peer always has one to read.
constexpr std::uint32_t kReferredWindow = 16 * link::kMostReferred;

std::uint32_t packets_of(const Qp& qp, const SendWqe& wqe) {
  const ExpectedResponse response = info_of(wqe.opcode).response;
  if (wqe.length == 0) return 1;
  if (response != ExpectedResponse::kAcknowledge && response != ExpectedResponse::kReadData) return 1;
  return static_cast<std::uint32_t>((std::uint64_t{wqe.length} + qp.mtu - 1) / qp.mtu);
}

Operation operation_of(const SendWqe& wqe, bool first, bool last) {
  const WorkRequestInfo& info = info_of(wqe.opcode);
  if (first) return last ? info.only : info.first;
  return last ? info.last : info.middle;
}

// How many packets may be unacknowledged. After an RNR NAK a single packet goes first: if no receive request is posted
// yet, the peer drops the others too. And after a first ACK timeout: a peer that got no processor time for a while has
// all packets in its socket's buffer, and would find them twice.
std::uint32_t max_in_flight(const Qp& qp) {
  if (qp.req.rnr_naks > 0 || qp.req.timed_out) return 1;
  const std::uint32_t window = qp.req.congestion_window.packets();
  return qp.req.refers ? std::max(window, kReferredWindow / qp.mtu) : window;
}

[[gnu::always_inline]] inline bool is_congestion_window_full(const Qp& qp) {
  const auto in_flight = static_cast<std::uint32_t>(psn_diff(qp.req.send_psn, qp.req.una_psn));
  return in_flight >= max_in_flight(qp);
}

std::uint32_t ack_interval(const Qp& qp) { return std::clamp(max_in_flight(qp) / kAcksPerWindow, 1u, kAckEvery); }

// Whether somebody waits for the answer to the request that is sent now: a local one behind it, the draining, or a
// program that has no room for the next one.
bool is_waited_for(Qp& qp) {
  const std::uint32_t next = qp.req.position + 1;
  return qp.draining || (next == qp.sq.tail ? qp.sq.full() : info_of(qp.sq.at(next).opcode).is_local());
}

bool requests_ack(Qp& qp, const SendWqe& wqe, bool last, Nanos now) {
  if (!qp.is_reliable()) return false;
  if (qp.req.since_ack_request >= ack_interval(qp)) return true;
  return last && (qp.signals(wqe) || now >= qp.req.ack_request_due || is_waited_for(qp));
}

// Moves the state past a packet that was sent and takes `psns` PSNs.
void advance(Core& core, Qp& qp, std::uint32_t psns) {
  RequesterState& req = qp.req;
  if (psn_before(req.send_psn, req.max_psn)) {
    ++core.counters.retransmitted_pkts;
    ++req.retransmitted_pkts;
  }
  req.send_psn = psn_add(req.send_psn, psns);
  if (psn_before(req.max_psn, req.send_psn)) req.max_psn = req.send_psn;
  req.packet += psns;
  const bool last = req.packet >= qp.sq.at(req.position).packets;
  if (last) {
    ++req.position;
    req.packet = 0;
  }
  if (qp.is_reliable()) return;
  // No acknowledgement will come: a packet is done when it is sent.
  req.una_psn = req.send_psn;
  if (last) complete_send(core, qp, IBV_WC_SUCCESS);
}

// XRC: every request packet names the shared receive queue.
void write_srq_number(PacketBuilder& packet, const Qp& qp, const SendWqe& wqe) {
  if (qp.transport == wire::Transport::kXrc) wire::Xrceth{wqe.remote_srqn}.emit(packet.xrceth());
}

// Of a SEND or a WRITE.
void write_extended_headers(PacketBuilder& packet, const Qp& qp, const SendWqe& wqe) {
  write_srq_number(packet, qp, wqe);
  if (packet.has(wire::kHasReth)) wire::Reth{wqe.remote_addr, wqe.rkey, wqe.length}.emit(packet.reth());
  if (packet.has(wire::kHasImmDt)) std::memcpy(packet.imm_dt(), &wqe.imm_data, sizeof wqe.imm_data);
  if (packet.has(wire::kHasIeth)) wire::store_be(packet.ieth(), std::uint32_t{wqe.imm_data});
}

// Whether the next packet asks for an acknowledgement.
[[gnu::always_inline]] inline bool request_ack(Qp& qp, const SendWqe& wqe, bool last, Nanos now) {
  RequesterState& req = qp.req;
  ++req.since_ack_request;
  if (!requests_ack(qp, wqe, last, now)) return false;
  req.since_ack_request = 0;
  req.ack_request_due = now + kAckRequestInterval;
  if (req.send_psn == req.max_psn) req.round_trip.sent(req.send_psn, now);
  return true;
}

// Packets that one stands for.
std::uint32_t most_referred(const Qp& qp) { return static_cast<std::uint32_t>(link::kMostReferred / qp.mtu); }

// The memory of the next packets, if one packet can stand for them all and refer to their payload; returns how many,
// or 0. What is sent again has its payload, unless the responder only had no receive request for it.
std::uint32_t refer(Core& core, Qp& qp, const SendWqe& wqe, MemoryPieces* memory) {
  RequesterState& req = qp.req;
  const std::size_t offset = static_cast<std::size_t>(req.packet) * qp.mtu;
  if (req.by_payload > 0 || (wqe.flags & IBV_SEND_INLINE) != 0) return 0;
  if (req.send_psn != req.max_psn && !req.unexecuted) return 0;
  if (!may_refer(core, qp, true, wqe.length - offset)) return 0;
  const std::uint32_t packets = std::min(most_referred(qp), wqe.packets - req.packet);
  const std::size_t size = std::min(std::size_t{packets} * qp.mtu, wqe.length - offset);
  const ibv_sge* sges = qp.sq.sges(req.position);
  return locate(core.mrs, qp.pd, sges, wqe.num_sge, offset, size, 0, memory) ? packets : 0;
}

// Sends one packet, or one that refers to the payload of several. False when the memory of the request is gone.
bool send_data_packet(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  SendWqe& wqe = qp.sq.at(req.position);
  const bool first = req.packet == 0;
  MemoryPieces memory;
  const std::uint32_t referred = refer(core, qp, wqe, &memory);
  const std::uint32_t psns = std::max(referred, 1u);
  const bool last = req.packet + psns == wqe.packets;
  const std::size_t offset = static_cast<std::size_t>(req.packet) * qp.mtu;
  const std::size_t size = std::min<std::size_t>(qp.mtu, wqe.length - offset);

  PacketBuilder packet(core, qp, operation_of(wqe, first, last));
  if (referred == 0 && !load_payload(core, qp, req.position, offset, packet.payload(), size)) return false;
  write_extended_headers(packet, qp, wqe);
  packet.bth.psn = req.send_psn;
  packet.bth.solicited =
      last && (wqe.flags & IBV_SEND_SOLICITED) != 0 && (packet.has(wire::kIsSend) || packet.has(wire::kHasImmDt));
  if (referred != 0) req.since_ack_request = kAckEvery;  // each asks for an acknowledgement
  packet.bth.ack_req = request_ack(qp, wqe, last, now);
  if (referred != 0) {
    packet.send_referring(memory);
    req.refers = true;
  } else {
    packet.send(size);
  }
  advance(core, qp, psns);
  return true;
}

// Whether the response may refer to that part of a READ. The peer is asked to do so only where its own packets would:
// whoever looks at payloads at this end would make the answer useless.
bool takes_reference(Core& core, Qp& qp, const SendWqe& wqe, std::size_t offset, std::size_t size) {
  const RequesterState& req = qp.req;
  MemoryPieces to;
  return req.by_payload == 0 && may_refer(core, qp, true, size) &&
         locate(core.mrs, qp.pd, qp.sq.sges(req.position), wqe.num_sge, offset, size, IBV_ACCESS_LOCAL_WRITE, &to);
}

// Up to the next multiple of `piece`.
std::uint32_t packets_of_piece(const Qp& qp, const SendWqe& wqe, std::uint32_t piece) {
  return std::min(wqe.packets - qp.req.packet, piece - qp.req.packet % piece);
}

// The next piece of a READ.
void send_read_request(Core& core, Qp& qp) {
  RequesterState& req = qp.req;
  SendWqe& wqe = qp.sq.at(req.position);
  const std::uint64_t offset = std::uint64_t{req.packet} * qp.mtu;
  const auto size_of = [&](std::uint32_t packets) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{packets} * qp.mtu, wqe.length - offset));
  };
  const bool again = req.send_psn != req.max_psn;
  std::uint32_t count = packets_of_piece(qp, wqe, again ? kReadPiece : most_referred(qp));
  const bool refers = takes_reference(core, qp, wqe, offset, size_of(count));
  if (!refers) count = packets_of_piece(qp, wqe, kReadPiece);

  PacketBuilder packet(core, qp, wire::kReadRequest);
  write_srq_number(packet, qp, wqe);
  wire::Reth{wqe.remote_addr + offset, wqe.rkey, size_of(count)}.emit(packet.reth());
  packet.bth.psn = req.send_psn;
  packet.bth.ack_req = true;
  // Of no meaning in a READ request: our responder takes it for leave to refer. Without it, a request that comes again
  // says that the response could not be read. So small parts of a READ have it, too.
  const bool small = size_of(count) < kLeastReferred;
  packet.bth.solicited = refers || (again && small && req.refers && req.by_payload == 0);
  packet.send(0);
  req.refers |= refers;
  req.since_ack_request = 0;  // the response acknowledges what is before it
  req.outstanding.push_back({req.send_psn, psn_add(req.send_psn, count - 1)});
  advance(core, qp, count);
}

// An atomic, an ATOMIC WRITE or a FLUSH. False when the memory of the request is gone.
bool send_single(Core& core, Qp& qp) {
  RequesterState& req = qp.req;
  const SendWqe& wqe = qp.sq.at(req.position);
  PacketBuilder packet(core, qp, info_of(wqe.opcode).only);
  const std::size_t size = packet.has(wire::kHasPayload) ? wqe.length : 0;
  if (!load_payload(core, qp, req.position, 0, packet.payload(), size)) return false;
  write_srq_number(packet, qp, wqe);
  if (packet.has(wire::kHasReth)) wire::Reth{wqe.remote_addr, wqe.rkey, wqe.length}.emit(packet.reth());
  if (packet.has(wire::kHasFeth)) wire::Feth{wqe.flush.type, wqe.flush.level}.emit(packet.feth());
  if (packet.has(wire::kHasAtomicEth)) {
    wire::AtomicEth{wqe.remote_addr, wqe.rkey, wqe.atomic.swap_or_add, wqe.atomic.compare}.emit(packet.atomic_eth());
  }
  packet.bth.psn = req.send_psn;
  packet.bth.ack_req = true;
  packet.send(size);
  req.since_ack_request = 0;
  req.outstanding.push_back({req.send_psn, req.send_psn});
  advance(core, qp, 1);
  return true;
}

// Sends the next packet. False when the memory of its request is gone.
bool send_packet(Core& core, Qp& qp, Nanos now) {
  switch (info_of(qp.sq.at(qp.req.position).opcode).response) {
    case ExpectedResponse::kAcknowledge:
      return send_data_packet(core, qp, now);
    case ExpectedResponse::kReadData:
      send_read_request(core, qp);
      return true;
    default:
      return send_single(core, qp);
  }
}

// Makes the packet with `psn` the next one. It was sent before, or is the next one of the last request that started.
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
  if ((wqe.flags & IBV_SEND_FENCE) != 0 && req.unanswered_requests > 0) return Step::kWait;
  wqe.error = check_request(core, qp, req.position);
  if (wqe.error != IBV_WC_SUCCESS) return Step::kFailed;
  wqe.started = true;
  wqe.done = 0;
  wqe.packets = packets_of(qp, wqe);
  wqe.first_psn = req.next_psn;
  req.next_psn = psn_add(req.next_psn, wqe.packets);
  if (info_of(wqe.opcode).has_own_response()) ++req.unanswered_requests;
  if (req.by_payload > 0) --req.by_payload;
  ++core.counters.rdma_sends;
  return Step::kSent;
}

// A message of one packet that is not sent again: start() and send_packet() in one. Its memory is looked at once, when
// it is read.
bool is_short(const Core& core, const Qp& qp, const SendWqe& wqe, const WorkRequestInfo& info) {
  return info.response == ExpectedResponse::kAcknowledge && wqe.length <= qp.mtu &&
         wqe.length <= core.config.limits.max_msg_size && qp.state == IBV_QPS_RTS &&
         ((wqe.flags & IBV_SEND_FENCE) == 0 || qp.req.unanswered_requests == 0);
}

void start_short(Core& core, const Qp& qp, SendWqe& wqe) {
  wqe.started = true;
  wqe.done = 0;
  wqe.packets = 1;
  wqe.first_psn = qp.req.send_psn;
  ++core.counters.rdma_sends;
}

void pass_short(RequesterState& req) {
  req.next_psn = req.send_psn = req.max_psn = psn_add(req.send_psn, 1);
  ++req.position;
}

Step send_short(Core& core, Qp& qp, SendWqe& wqe, const WorkRequestInfo& info, Nanos now) {
  RequesterState& req = qp.req;
  PacketBuilder packet(core, qp, info.only);
  if (!load_payload(core, qp, req.position, 0, packet.payload(), wqe.length)) {
    wqe.error = IBV_WC_LOC_PROT_ERR;
    return Step::kFailed;
  }
  start_short(core, qp, wqe);
  write_extended_headers(packet, qp, wqe);
  packet.bth.psn = req.send_psn;
  packet.bth.solicited =
      (wqe.flags & IBV_SEND_SOLICITED) != 0 && (packet.has(wire::kIsSend) || packet.has(wire::kHasImmDt));
  packet.bth.ack_req = request_ack(qp, wqe, true, now);
  packet.send(wqe.length);
  pass_short(req);
  if (qp.is_reliable()) return Step::kSent;
  // No acknowledgement will come: a packet is done when it is sent.
  req.una_psn = req.send_psn;
  complete_send(core, qp, IBV_WC_SUCCESS);
  return Step::kSent;
}

// The same as a message, where the peer is another process and nobody looks at packets. False: it needs a packet.
[[gnu::always_inline]] inline bool send_message(Core& core, Qp& qp, SendWqe& wqe, const WorkRequestInfo& info,
                                                Nanos now) {
  RequesterState& req = qp.req;
  const std::uint8_t opcode = wire::make_opcode(wire::Transport::kRc, info.only);
  link::MessageWay* way = way_of(core, qp);
  if (way == nullptr || !link::is_carried(opcode)) return false;
  std::uint8_t* payload = way->reserve(wqe.length);
  if (payload == nullptr || !load_payload(core, qp, req.position, 0, payload, wqe.length)) return false;
  start_short(core, qp, wqe);
  const bool solicits = (wqe.flags & IBV_SEND_SOLICITED) != 0 && info.only != wire::kWriteOnly;
  const bool asks = request_ack(qp, wqe, true, now);
  const auto flags =
      static_cast<std::uint8_t>((solicits ? link::Message::kSolicited : 0) | (asks ? link::Message::kAckReq : 0));
  way->commit({.opcode = opcode,
               .flags = flags,
               .syndrome = 0,
               .reserved = 0,
               .dest_qpn = qp.attr.dest_qp_num,
               .psn = req.send_psn,
               .value = wqe.imm_data,
               .address = wqe.remote_addr,
               .rkey = wqe.rkey,
               .reserved_too = 0,
               .route = qp.route},
              wqe.length);
  ++core.carried;
  ++core.counters.sent_pkts;
  core.counters.sent_bytes += packet_size(qp, wire::kOpcodes[opcode], wqe.length);
  pass_short(req);
  return true;
}

// A local request waits until every request before it is complete: they may use the window that it invalidates.
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
  if (wqe.error != IBV_WC_SUCCESS) return !wqe.started && qp.state == IBV_QPS_SQD ? Step::kWait : Step::kFailed;
  if (!wqe.started) {
    const WorkRequestInfo& info = info_of(wqe.opcode);
    if (info.is_local()) return step_local(core, qp, wqe);
    if (is_congestion_window_full(qp)) return Step::kWait;
    if (req.send_psn == req.max_psn && req.send_psn == req.next_psn && is_short(core, qp, wqe, info)) {
      return send_message(core, qp, wqe, info, now) ? Step::kSent : send_short(core, qp, wqe, info, now);
    }
    const Step started = start(core, qp, wqe);
    if (started != Step::kSent) return started;
  }
  if (is_congestion_window_full(qp)) return Step::kWait;
  const WorkRequestInfo& info = info_of(wqe.opcode);
  if (info.has_own_response() && req.outstanding.size() >= qp.attr.max_rd_atomic) return Step::kWait;
  if (send_packet(core, qp, now)) return Step::kSent;
  wqe.error = IBV_WC_LOC_PROT_ERR;
  return Step::kFailed;
}

void arm_probe(Core& core, Qp& qp, Nanos now) {
  const RequesterState& req = qp.req;
  const Nanos round_trip = req.round_trip.smoothed();
  if (round_trip == 0 || req.probes >= kMaxProbes) return core.timers.arm(qp, req.ack_deadline);
  const Nanos delay = std::max(kProbeRoundTrips * round_trip, kMinProbeDelay) << req.probes;
  core.timers.arm(qp, std::min(now + delay, req.ack_deadline));
}

// The packet that asks for an answer again: the last one. If that asks for a response of several packets (a READ), it
// asks for all of them that are missing, not for the last: a responder that keeps its place in the READ, such as the
// kernel's soft-RoCE, would move it there, and then drop every request for earlier data.
std::uint32_t psn_to_repeat(const RequesterState& req) {
  const std::uint32_t last = psn_add(req.send_psn, kPsnMask);
  if (req.outstanding.empty()) return last;
  const OutstandingResponse& response = req.outstanding.back();
  if (response.last_psn != last) return last;
  return psn_before(response.first_psn, req.una_psn) ? req.una_psn : response.first_psn;
}

// Of a long response it asks for a part only. The rest is still due: what comes next is what came next before.
void send_last_again(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  const std::size_t outstanding = req.outstanding.size();
  const std::uint32_t next = req.send_psn;
  seek(qp, psn_to_repeat(req));
  req.round_trip.discard();
  req.since_ack_request = kAckEvery;  // it asks for an acknowledgement
  // If its memory is gone, the ACK timeout fails the request.
  (void)send_packet(core, qp, now);
  seek(qp, next);
  req.outstanding.resize(outstanding);
}

// Whether all that is left waits for the answers to earlier requests, which have not asked for one. One that fails here
// is in no hurry: a probe asks, if there are any.
bool waits_unasked(Qp& qp) {
  const RequesterState& req = qp.req;
  if (req.since_ack_request == 0 || !qp.is_reliable()) return false;
  if (req.una_psn == req.max_psn || req.send_psn != req.max_psn) return false;
  if (qp.draining) return req.send_psn == req.next_psn;
  if (req.position == qp.sq.tail) return false;
  const SendWqe& next = qp.sq.at(req.position);
  return info_of(next.opcode).is_local() || (next.error != IBV_WC_SUCCESS && qp.attr.timeout == 0);
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
  req.outstanding.clear();
  req.round_trip.discard();
  req.since_ack_request = 0;
  req.unexecuted = false;
}

void probe(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  ++req.probes;
  arm_probe(core, qp, now);
  core.active.add(qp);
  if (!psn_before(req.una_psn, req.send_psn)) return;  // a retransmission is due that has not been sent yet
  req.recovery_psn = req.send_psn;                     // a NAK to the probe counts even while retransmitting
  send_last_again(core, qp, now);
}

std::size_t send_requests(Core& core, Qp& qp, std::size_t budget, Nanos now) {
  if (!qp.may_send() || qp.req.waiting_rnr) return 0;
  std::size_t count = 0;
  const bool near = way_of(core, qp) == nullptr;
  if (near && hand_over(core, qp, budget, true, &count) == HandOver::kBudget) return count;
  while (count < budget && qp.req.position != qp.sq.tail) {
    const Step result = step(core, qp, now);
    if (result == Step::kWait) break;
    if (result == Step::kFailed) {
      // Earlier requests complete first. Then the completer puts the QP on the active list again.
      if (qp.sq.head == qp.req.position) fail_send(core, qp, qp.sq.at(qp.sq.head).error);
      break;
    }
    if (result == Step::kSent) ++count;
  }
  if (count < budget && waits_unasked(qp)) {
    send_last_again(core, qp, now);
    ++count;
  }
  // Also after an earlier call that sent packets and then had no memory for the timer.
  const bool unanswered = psn_before(qp.req.una_psn, qp.req.send_psn);
  if (unanswered && qp.deadline == kNever) restart_ack_timer(core, qp, now);
  check_drained(core, qp);
  return count;
}

}  // namespace verbs::soft::nic
