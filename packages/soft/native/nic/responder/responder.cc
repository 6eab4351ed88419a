#include "nic/responder/responder.h"

#include "nic/base/limits.h"
#include "nic/responder/execution.h"
#include "nic/responder/responses.h"

namespace verbs::soft::nic {
namespace {

// The requester sent a message again that it saw no acknowledgement of. What it did not see either is the response to a
// READ or an atomic behind the message: an acknowledgement of that request's PSN would tell it that the response was
// lost, or that the request is complete without its data.
void acknowledge_again(Core& core, Qp& qp, std::uint32_t psn) {
  const std::uint32_t end = qp.resp.replay_cache.first_between(psn, qp.resp.expected_psn);
  queue_ack(core, qp, psn_add(end, kPsnMask));
}

// A duplicate request was executed before: its response was lost, or the network doubled it.
void handle_duplicate(Core& core, Qp& qp, const Packet& packet) {
  ++core.counters.duplicate_request;
  if (packet.has(wire::kIsRead)) return execute_read_again(core, qp, packet);
  if (!packet.has(wire::kIsSend | wire::kIsWrite)) return replay(core, qp, packet);
  acknowledge_again(core, qp, packet.bth.psn);
}

// Requests of one packet that have a response of their own.
void execute_single(Core& core, Qp& qp, const Packet& packet) {
  if (packet.has(wire::kIsRead)) return execute_read(core, qp, packet);
  if (packet.has(wire::kIsAtomic)) return execute_atomic(core, qp, packet);
  if (wire::operation_of(packet.bth.opcode) == wire::kFlush) return execute_flush(core, qp, packet);
  execute_atomic_write(core, qp, packet);
}

Why why_wrong_length(const Qp& qp, const Packet& packet) {
  return {Reason::kPacketLength, {packet.payload_size(), qp.mtu}};
}

// UC: a packet with another PSN than the expected one ends the message in progress, and the following packets are
// dropped until a message begins (IBTA 9.8.2.2).
void handle_unreliable(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const std::uint32_t expected = resp.expected_psn;
  const bool next = packet.bth.psn == expected && continues_message(resp, packet.info);
  resp.expected_psn = packet.bth.psn;
  if (!next) {
    if (resp.message != ResponderState::Message::kNone || !packet.has(wire::kIsStart)) {
      drop_message(core, qp, IBV_WC_REM_ABORT_ERR, {Reason::kDropLostMessage, {expected, packet.bth.psn}});
    }
    if (!packet.has(wire::kIsStart)) return;
  }
  if (!has_valid_length(qp, packet))
    return drop_message(core, qp, IBV_WC_REM_INV_REQ_ERR, why_wrong_length(qp, packet));
  if (packet.has(wire::kIsSend)) return execute_send(core, qp, packet);
  execute_write(core, qp, packet);
}

// The packet is ahead of the expected PSN. A second PSN sequence error NAK goes out only when the PSNs start again from
// a lower one: the requester retransmitted and that was lost too. Without it, the requester would wait for its timeout.
void handle_ahead(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const bool retransmitted = resp.nak_sent && !psn_before(resp.last_ahead_psn, packet.bth.psn);
  resp.last_ahead_psn = packet.bth.psn;
  if (!resp.nak_sent || retransmitted) nak_sequence_error(core, qp);
}

void handle_connected(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  note_communication(core, qp);
  if (!qp.is_reliable()) return handle_unreliable(core, qp, packet);

  const std::int32_t ahead = psn_diff(packet.bth.psn, resp.expected_psn);
  if (ahead < 0) return handle_duplicate(core, qp, packet);
  if (ahead > 0) return handle_ahead(core, qp, packet);
  resp.nak_sent = false;
  if (qp.type == IBV_QPT_XRC_RECV && qp.srq == nullptr) {
    const wire::Xrceth xrceth = wire::Xrceth::parse(packet.header(packet.info.xrceth));
    return nak_invalid_request(core, qp, {Reason::kUnknownSrq, {xrceth.srqn}});
  }
  if (!continues_message(resp, packet.info)) {
    return nak_invalid_request(core, qp, {Reason::kMessageOrder, {packet.bth.opcode}});
  }
  if (!packet.has(wire::kIsSend | wire::kIsWrite)) return execute_single(core, qp, packet);
  if (!has_valid_length(qp, packet)) return nak_invalid_request(core, qp, why_wrong_length(qp, packet));
  if (packet.has(wire::kIsSend)) return execute_send(core, qp, packet);
  execute_write(core, qp, packet);
}

// XRC: a request names a shared receive queue, and is executed with the PD of that queue.
void handle_xrc(Core& core, Qp& qp, const Packet& packet) {
  Srq* named = core.srqs.find(wire::Xrceth::parse(packet.header(packet.info.xrceth)).srqn);
  qp.srq = named != nullptr && named->xrcd == qp.xrcd ? named : nullptr;
  qp.remote_pd = qp.srq != nullptr ? qp.srq->pd : nullptr;
  handle_connected(core, qp, packet);
  qp.srq = nullptr;
}

}  // namespace

void handle_request(Core& core, Qp& qp, const Packet& packet) {
  if (qp.type == IBV_QPT_XRC_RECV) {
    handle_xrc(core, qp, packet);
  } else {
    handle_connected(core, qp, packet);
  }
}

}  // namespace verbs::soft::nic
