#include "nic/responder/response.h"

#include <algorithm>

#include "nic/device/completion.h"
#include "nic/device/packet_builder.h"
#include "nic/objects/qp/response_ring.h"
#include "nic/responder/remote_memory.h"
#include "nic/shared/guarded_memory.h"
#include "nic/shared/psn.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

using Message = ResponderState::Message;

Response nak(const Qp& qp, std::uint8_t syndrome, std::uint32_t psn) {
  return {.kind = Response::Kind::kNak, .syndrome = syndrome, .psn = psn, .msn = qp.resp.msn, .last_psn = psn};
}

void send_acknowledgement(Core& core, Qp& qp, const Response& response) {
  const bool atomic = response.kind == Response::Kind::kAtomic;
  PacketBuilder packet(core, core.port_of(qp), qp.path,
                       wire::make_opcode(qp.transport, atomic ? wire::kAtomicAcknowledge : wire::kAcknowledge));
  wire::Aeth{response.syndrome, response.msn}.emit(packet.aeth());
  if (atomic) wire::store_be(packet.atomic_ack_eth(), response.original);
  packet.bth.dest_qpn = qp.attr.dest_qp_num;
  packet.bth.psn = response.psn;
  packet.send(0);
}

wire::Operation response_operation(bool first, bool last) {
  if (first) return last ? wire::kReadResponseOnly : wire::kReadResponseFirst;
  return last ? wire::kReadResponseLast : wire::kReadResponseMiddle;
}

// One packet of a read response. False when the memory is gone.
bool send_read_packet(Core& core, Qp& qp, Response& response) {
  const std::uint32_t size = std::min(response.remaining, qp.mtu);
  const std::uint8_t opcode =
      wire::make_opcode(qp.transport, response_operation(response.first, response.psn == response.last_psn));
  PacketBuilder packet(core, core.port_of(qp), qp.path, opcode);
  if (size > 0) {
    const std::uint8_t* memory =
        remote_memory(core, qp, response.pd, response.rkey, response.address, size, IBV_ACCESS_REMOTE_READ);
    if (memory == nullptr || !guarded_copy(packet.payload(), memory, size)) return false;
  }
  if (wire::opcode_info(opcode)->has(wire::kHasAeth)) {
    wire::Aeth{wire::kAckUnlimitedCredits, response.msn}.emit(packet.aeth());
  }
  packet.bth.dest_qpn = qp.attr.dest_qp_num;
  packet.bth.psn = response.psn;
  packet.send(size);
  response.first = false;
  response.psn = psn_add(response.psn, 1);
  response.address += size;
  response.remaining -= size;
  return true;
}

}  // namespace

bool answer(Core& core, Qp& qp, const Response& response) {
  core.active.add(qp);
  const std::uint32_t owed = qp.resp.ring_count;
  if (!ResponseRing(qp.resp).push(response)) return false;
  if (qp.resp.ring_count == owed) ++core.counters.ack_deferred;
  return true;
}

void acknowledge(Core& core, Qp& qp, std::uint32_t psn) {
  answer(core, qp, {.kind = Response::Kind::kAck, .psn = psn, .msn = qp.resp.msn, .last_psn = psn});
}

void refuse(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status) {
  if (!qp.is_reliable()) {
    if (syndrome != wire::kNakRemoteOperational) return abandon(core, qp, receive_status);
    complete_recv(core, qp, receive_status, {});
    return enter_error(core, qp, IBV_EVENT_QP_FATAL);
  }
  answer(core, qp, nak(qp, syndrome, qp.resp.expected_psn));
  qp.resp.message = Message::kNone;
  if (qp.recv.wqe != nullptr) complete_recv(core, qp, receive_status, {});
  const ibv_event_type event = syndrome == wire::kNakRemoteAccess     ? IBV_EVENT_QP_ACCESS_ERR
                               : syndrome == wire::kNakInvalidRequest ? IBV_EVENT_QP_REQ_ERR
                                                                      : IBV_EVENT_QP_FATAL;
  enter_error(core, qp, event);
}

void refuse_invalid(Core& core, Qp& qp) { refuse(core, qp, wire::kNakInvalidRequest, IBV_WC_REM_INV_REQ_ERR); }
void refuse_access(Core& core, Qp& qp) { refuse(core, qp, wire::kNakRemoteAccess, IBV_WC_REM_ACCESS_ERR); }

void not_ready(Core& core, Qp& qp) {
  if (!qp.is_reliable()) return abandon(core, qp, IBV_WC_SUCCESS);
  ++core.counters.send_rnr_err;
  qp.resp.nak_sent = true;
  qp.resp.last_ahead_psn = qp.resp.expected_psn;
  answer(core, qp, nak(qp, static_cast<std::uint8_t>(wire::kRnrNak | qp.attr.min_rnr_timer), qp.resp.expected_psn));
}

void abandon(Core& core, Qp& qp, ibv_wc_status receive_status) {
  ++core.counters.dropped_pkts;
  qp.resp.message = Message::kNone;
  if (qp.recv.srq != nullptr) {
    complete_recv(core, qp, receive_status, {});
  } else {
    qp.recv = {};
  }
}

void out_of_sequence(Core& core, Qp& qp) {
  ++core.counters.out_of_seq_request;
  qp.resp.nak_sent = true;
  answer(core, qp, nak(qp, wire::kNakPsnSequence, qp.resp.expected_psn));
}

std::size_t run_answers(Core& core, Qp& qp, std::size_t budget) {
  ResponseRing ring(qp.resp);
  std::size_t count = 0;
  for (; count < budget && !ring.empty(); ++count) {
    Response& response = ring.front();
    if (response.kind != Response::Kind::kRead) {
      const Response copy = response;
      ring.pop();
      send_acknowledgement(core, qp, copy);
      continue;
    }
    if (!send_read_packet(core, qp, response)) {
      const std::uint32_t psn = response.psn;
      ring.clear();
      ring.push(nak(qp, wire::kNakRemoteAccess, psn));
      if (qp.state != IBV_QPS_ERR) enter_error(core, qp, IBV_EVENT_QP_ACCESS_ERR);
      continue;
    }
    if (response.remaining == 0 && psn_before(response.last_psn, response.psn)) ring.pop();
  }
  return count;
}

}  // namespace verbs::soft::nic
