#include "nic/completer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "nic/base/limits.h"
#include "nic/core/completion.h"
#include "nic/core/core.h"
#include "nic/core/inline_completion.h"
#include "nic/core/payload.h"
#include "nic/core/work_request.h"
#include "nic/requester.h"

namespace verbs::soft::nic {
namespace {

// When a requester sends again: after a loss, after a NAK, and after a timeout.

// The other way round: this end could not read what a READ response refers to, and asks for the payload.
void ask_for_payload(Core& core, Qp& qp);

// In units of 10 us. Code 25 is 61.44 ms in the specification.
constexpr std::array<std::uint32_t, 32> kRnrTable = {
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

constexpr std::uint8_t kInfiniteRnr = 7;
// The wait doubles with each RNR NAK in a row, up to this limit or the peer's own wait, whichever is longer: the
// shortest waits that a peer can ask for would keep both ends busy with nothing else.
constexpr Nanos kMaxRnrBackOff = 160'000;
constexpr std::uint8_t kMaxRnrDoublings = 4;

Nanos rnr_back_off(const RequesterState& req, std::uint8_t code) {
  const Nanos asked = rnr_wait(code);
  return std::max(asked, std::min(asked << (req.rnr_naks - 1), kMaxRnrBackOff));
}

// Sends everything from una_psn on again.
void retransmit(Core& core, Qp& qp) {
  RequesterState& req = qp.req;
  req.congestion_window.lost();
  ++core.counters.completer_retry_err;
  req.recovering = true;
  req.recovery_psn = req.max_psn;
  rewind(qp, req.una_psn);
  core.active.add(qp);
}

// Counts a retry and retransmits; fails the oldest request when none is left.
void retry(Core& core, Qp& qp, Nanos now) {
  RequesterState& req = qp.req;
  if (req.retries_left == 0) {
    ++core.counters.retry_exceeded_err;
    fail_send(core, qp, IBV_WC_RETRY_EXC_ERR);
    return;
  }
  --req.retries_left;
  retransmit(core, qp);
  restart_ack_timer(core, qp, now);
}

}  // namespace

Nanos rnr_wait(std::uint8_t code) { return Nanos{10'000} * kRnrTable[code & 0x1f]; }

namespace {

// The peer could not read what packets refer to: sends their payload, from the oldest unacknowledged packet on. No
// retry, since nothing was lost.
void send_payload(Core& core, Qp& qp) {
  revoke_references(core, qp);
  ask_for_payload(core, qp);
}

void ask_for_payload(Core& core, Qp& qp) {
  constexpr std::uint8_t kMessages = 64;
  RequesterState& req = qp.req;
  req.by_payload = kMessages;
  req.recovering = true;
  req.recovery_psn = req.max_psn;
  rewind(qp, req.una_psn);
  core.active.add(qp);
}

// Everything before `una` is acknowledged: retries, probes and timers are reset.
void acknowledge_progress(Core& core, Qp& qp, std::uint32_t una, Nanos now) {
  RequesterState& req = qp.req;
  req.congestion_window.acknowledged(static_cast<std::uint32_t>(psn_diff(una, req.una_psn)));
  req.round_trip.acknowledged(una, now);
  req.una_psn = una;
  req.recovering = false;
  req.probes = 0;
  req.timed_out = false;
  req.retries_left = qp.attr.retry_cnt;
  req.rnr_retries_left = qp.attr.rnr_retry;
  req.rnr_naks = 0;
  // A copy of what the peer was not ready for has come when it was.
  if (std::exchange(req.waiting_rnr, false)) core.timers.cancel(qp);
  // A late acknowledgement may overtake the retransmission.
  if (psn_before(req.send_psn, una)) rewind(qp, una);
  auto& outstanding = req.outstanding;
  while (!outstanding.empty() && psn_before(outstanding.front().last_psn, una)) outstanding.erase(outstanding.begin());
  if (una == req.max_psn) {
    req.refers = false;
    core.timers.cancel(qp);
  } else {
    restart_ack_timer(core, qp, now);
  }
  if (req.position != qp.sq.tail || qp.draining) core.active.add(qp);
}

// A PSN sequence error NAK or a response after a gap (an implied NAK) shows a loss: retransmits at once. While
// retransmitting, further reports of the same loss are ignored. A report after the whole retransmission means that it
// was lost too, and starts another one within the same ACK timeout.
void handle_loss(Core& core, Qp& qp, Nanos now) {
  const RequesterState& req = qp.req;
  if (req.waiting_rnr) return;  // everything is sent again when the peer may be ready, and not before
  if (!req.recovering) return retry(core, qp, now);
  if (!psn_before(req.send_psn, req.recovery_psn)) retransmit(core, qp);
}

// RNR NAK for `psn`: waits, then sends that packet again.
void handle_rnr_nak(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t timer_code, Nanos now) {
  RequesterState& req = qp.req;
  ++core.counters.rcvd_rnr_err;
  ++req.rcvd_rnr_err;
  if (req.waiting_rnr) return;  // of another copy of the packet: nothing was sent since
  // The peer is reachable: earlier losses no longer count against the path.
  req.retries_left = qp.attr.retry_cnt;
  if (qp.attr.rnr_retry != kInfiniteRnr) {
    if (req.rnr_retries_left == 0) {
      ++core.counters.retry_rnr_exceeded_err;
      fail_send(core, qp, IBV_WC_RNR_RETRY_EXC_ERR);
      return;
    }
    --req.rnr_retries_left;
  }
  rewind(qp, psn);
  req.unexecuted = true;
  req.waiting_rnr = true;
  req.rnr_naks = std::min<std::uint8_t>(req.rnr_naks + 1, 1 + kMaxRnrDoublings);
  core.timers.arm(qp, now + rnr_back_off(req, timer_code));
}

}  // namespace

void handle_timeout(Core& core, Qp& qp, Nanos now) {
  if (!qp.may_send()) return;
  RequesterState& req = qp.req;
  if (req.waiting_rnr) {
    req.waiting_rnr = false;
    core.active.add(qp);
    return;
  }
  if (req.una_psn == req.max_psn) return;
  if (now < req.ack_deadline) return probe(core, qp, now);  // no retry yet
  req.probes = kMaxProbes;
  // The first time in a row. Later ones repeat the window: on a path that loses much, one packet is too few chances.
  req.timed_out = req.retries_left == qp.attr.retry_cnt;
  ++core.counters.ack_timeout;
  retry(core, qp, now);
}

namespace {

// Completes the oldest request, whose last PSN is the one before `next_psn`.
void complete_oldest(Core& core, Qp& qp, std::uint32_t next_psn) {
  RequesterState& req = qp.req;
  const bool sending = req.position == qp.sq.head;
  complete_send_here(core, qp, IBV_WC_SUCCESS);
  if (!sending) return;
  // It was being retransmitted. The requests after it were not.
  req.position = qp.sq.head;
  req.packet = 0;
  req.send_psn = next_psn;
}

// A READ of no bytes lacks nothing once the peer has answered a later request: it executes them in order. So its lost
// response is not asked for, which rxe of Linux 6.12 would never send again.
bool needs_response(const SendWqe& wqe) {
  const ExpectedResponse response = info_of(wqe.opcode).response;
  if (response == ExpectedResponse::kReadData && wqe.length == 0) return false;
  return info_of(wqe.opcode).has_own_response();
}

// Completes the requests that an acknowledgement of everything up to and including `psn` completes. False when a
// request before `psn` still lacks a part of its own response: that part was lost.
bool acknowledge(Core& core, Qp& qp, std::uint32_t psn, Nanos now) {
  RequesterState& req = qp.req;
  std::uint32_t una = req.una_psn;
  bool complete = true;
  while (qp.sq.head != qp.sq.tail) {
    const SendWqe& wqe = qp.sq.at(qp.sq.head);
    if (!wqe.started || psn_before(psn, wqe.first_psn)) break;
    if (needs_response(wqe)) {
      // Its response has not arrived completely: it would be complete. `psn` is before the missing part or behind it.
      complete = psn_before(psn, psn_add(wqe.first_psn, wqe.done));
      break;
    }
    if (psn_before(psn, wqe.last_psn())) {
      una = psn_add(psn, 1);
      break;
    }
    una = psn_add(wqe.last_psn(), 1);
    complete_oldest(core, qp, una);
  }
  if (psn_before(req.una_psn, una)) acknowledge_progress(core, qp, una, now);
  return complete;
}

void handle_nak(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t syndrome, Nanos now) {
  // A NAK acknowledges every packet before its own.
  if (!acknowledge(core, qp, psn_add(psn, kPsnMask), now)) return handle_loss(core, qp, now);
  if (qp.req.una_psn != psn) return;
  if ((syndrome & wire::kSyndromeKind) == wire::kRnrNak) return handle_rnr_nak(core, qp, psn, syndrome & 0x1f, now);
  switch (syndrome) {
    case wire::kNakPsnSequence:
      if (qp.req.refers) return send_payload(core, qp);
      ++core.counters.rcvd_seq_err;
      return handle_loss(core, qp, now);
    case wire::kNakInvalidRequest:
      return fail_send(core, qp, IBV_WC_REM_INV_REQ_ERR);
    case wire::kNakRemoteAccess:
      return fail_send(core, qp, IBV_WC_REM_ACCESS_ERR);
    case wire::kNakRemoteOperational:
      return fail_send(core, qp, IBV_WC_REM_OP_ERR);
    default:
      return fail_send(core, qp, IBV_WC_BAD_RESP_ERR);
  }
}

// Whether the packet is of the kind that the request expects.
bool is_response_to(const SendWqe& wqe, const Packet& packet) {
  switch (info_of(wqe.opcode).response) {
    case ExpectedResponse::kReadData:
      return packet.has(wire::kIsRead);
    case ExpectedResponse::kAtomicAcknowledge:
      return packet.has(wire::kIsAtomic);
    case ExpectedResponse::kEmptyRead:
      return packet.has(wire::kIsRead) && packet.has(wire::kIsStart) && packet.has(wire::kIsEnd);
    default:
      return false;
  }
}

// Where a response that refers to its payload belongs in the oldest request.
bool has_valid_length(const Qp& qp, const SendWqe& wqe, const Packet& packet) {
  if (info_of(wqe.opcode).response != ExpectedResponse::kReadData) return false;
  const std::size_t size = packet.payload_size();
  const std::size_t left = wqe.length - static_cast<std::size_t>(wqe.done) * qp.mtu;
  return size > 0 && (size == left || (size < left && size % qp.mtu == 0));
}

bool pull_response(Core& core, Qp& qp, const SendWqe& wqe, const ReferredPayload& referred) {
  const std::size_t offset = static_cast<std::size_t>(wqe.done) * qp.mtu;
  return pull(core.mrs, qp.pd, qp.sq.sges(qp.sq.head), wqe.num_sge, offset, referred);
}

// Writes the data of the response to the scatter list of the oldest request.
ibv_wc_status store_response(Core& core, Qp& qp, const Packet& packet) {
  const SendWqe& wqe = qp.sq.at(qp.sq.head);
  std::span<const std::uint8_t> data = packet.payload();
  std::size_t offset = 0;
  std::uint8_t original[sizeof(std::uint64_t)];
  if (packet.has(wire::kIsAtomic)) {
    if (!data.empty()) return IBV_WC_BAD_RESP_ERR;
    const auto value = wire::load_be<std::uint64_t>(packet.header(packet.info.atomic_ack_eth));
    std::memcpy(original, &value, sizeof original);  // in the host's byte order
    data = original;
  } else {
    offset = static_cast<std::size_t>(wqe.done) * qp.mtu;
    const std::size_t length = info_of(wqe.opcode).response == ExpectedResponse::kReadData ? wqe.length : 0;
    if (data.size() != std::min<std::size_t>(qp.mtu, length - offset)) return IBV_WC_BAD_RESP_ERR;
  }
  const bool stored = scatter(core.mrs, qp.pd, qp.sq.sges(qp.sq.head), wqe.num_sge, offset, data.data(), data.size());
  return stored ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

// A READ response or an ATOMIC ACKNOWLEDGE.
void handle_own_response(Core& core, Qp& qp, const Packet& packet, Nanos now) {
  const std::uint32_t psn = packet.bth.psn;
  // It acknowledges the requests before its own.
  acknowledge(core, qp, psn_add(psn, kPsnMask), now);
  if (qp.sq.empty()) return;
  SendWqe& wqe = qp.sq.at(qp.sq.head);
  if (!wqe.started) return;
  const std::int32_t ahead = psn_diff(psn, psn_add(wqe.first_psn, wqe.done));
  if (ahead < 0) return;
  if (!info_of(wqe.opcode).has_own_response() || (ahead == 0 && !is_response_to(wqe, packet))) {
    return fail_send(core, qp, IBV_WC_BAD_RESP_ERR);
  }
  if (ahead > 0) return handle_loss(core, qp, now);
  if (packet.referred != nullptr) {
    if (!has_valid_length(qp, wqe, packet)) return fail_send(core, qp, IBV_WC_BAD_RESP_ERR);
    if (!pull_response(core, qp, wqe, *packet.referred)) return ask_for_payload(core, qp);
  } else {
    const ibv_wc_status status = store_response(core, qp, packet);
    if (status != IBV_WC_SUCCESS) return fail_send(core, qp, status);
  }
  const std::uint32_t psns = packet.psns(qp.mtu);
  wqe.done += psns;
  const std::uint32_t next_psn = psn_add(psn, psns);
  if (wqe.done == wqe.packets) complete_oldest(core, qp, next_psn);
  acknowledge_progress(core, qp, next_psn, now);
}

}  // namespace

namespace {

// It acknowledges a PSN that was never sent, or one that is acknowledged already.
bool is_stale(const RequesterState& req, std::uint32_t psn) {
  return !psn_before(psn, req.max_psn) || psn_before(psn, req.una_psn);
}

}  // namespace

void handle_answer(Core& core, Qp& qp, std::uint32_t psn, std::uint8_t syndrome, Nanos now) {
  if (is_stale(qp.req, psn)) return;
  if ((syndrome & wire::kSyndromeKind) != wire::kAck) return handle_nak(core, qp, psn, syndrome, now);
  if (!acknowledge(core, qp, psn, now)) handle_loss(core, qp, now);
}

void handle_response(Core& core, Qp& qp, const Packet& packet, Nanos now) {
  const RequesterState& req = qp.req;
  const std::uint32_t psn = packet.bth.psn;
  const bool own = packet.has(wire::kIsRead | wire::kIsAtomic);
  const std::uint8_t syndrome = packet.has(wire::kHasAeth) ? wire::Aeth::parse(packet.header(packet.info.aeth)).syndrome
                                                           : std::uint8_t{wire::kAckUnlimitedCredits};
  if (!own) return handle_answer(core, qp, psn, syndrome, now);
  if (is_stale(req, psn)) return;
  if (packet.referred != nullptr && psn_before(req.max_psn, psn_add(psn, packet.psns(qp.mtu)))) return;
  if ((syndrome & wire::kSyndromeKind) != wire::kAck) return handle_nak(core, qp, psn, syndrome, now);
  handle_own_response(core, qp, packet, now);
}

}  // namespace verbs::soft::nic
