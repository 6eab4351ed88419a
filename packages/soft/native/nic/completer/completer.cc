#include "nic/completer/completer.h"

#include <algorithm>
#include <cstring>

#include "nic/completer/retry.h"
#include "nic/device/completion.h"
#include "nic/device/pull.h"
#include "nic/device/qp_error.h"
#include "nic/device/scatter.h"
#include "nic/device/work_request.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

// Completes the oldest request, whose last PSN is the one before `next_psn`.
void complete_oldest(Core& core, Qp& qp, std::uint32_t next_psn) {
  RequesterState& req = qp.req;
  const bool sending = req.position == qp.sq.head;
  complete_send(core, qp, IBV_WC_SUCCESS);
  if (!sending) return;
  // It was being retransmitted. The requests after it were not.
  req.position = qp.sq.head;
  req.packet = 0;
  req.send_psn = next_psn;
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
    if (info_of(wqe.opcode).has_own_response()) {
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

void handle_response(Core& core, Qp& qp, const Packet& packet, Nanos now) {
  const RequesterState& req = qp.req;
  const std::uint32_t psn = packet.bth.psn;
  // It acknowledges a PSN that was never sent, or one that is acknowledged already.
  if (!psn_before(psn, req.max_psn) || psn_before(psn, req.una_psn)) return;
  if (packet.referred != nullptr && psn_before(req.max_psn, psn_add(psn, packet.psns(qp.mtu)))) return;
  const std::uint8_t syndrome = packet.has(wire::kHasAeth) ? wire::Aeth::parse(packet.header(packet.info.aeth)).syndrome
                                                           : std::uint8_t{wire::kAckUnlimitedCredits};
  if ((syndrome & wire::kSyndromeKind) != wire::kAck) return handle_nak(core, qp, psn, syndrome, now);
  if (packet.has(wire::kIsRead | wire::kIsAtomic)) return handle_own_response(core, qp, packet, now);
  if (!acknowledge(core, qp, psn, now)) handle_loss(core, qp, now);
}

}  // namespace verbs::soft::nic
