#include "responder.h"

#include <algorithm>
#include <cstring>

#include "completion.h"
#include "memory.h"
#include "packet.h"
#include "psn.h"
#include "receive.h"
#include "response_ring.h"
#include "scatter.h"

namespace verbs::soft::nic {
namespace {

using Message = ResponderState::Message;

constexpr std::uint32_t kMaxRdmaLength = 1u << 31;
constexpr std::uint32_t kGrhSize = 40;

void answer(Core& core, Qp& qp, Response::Kind kind, std::uint8_t syndrome, std::uint32_t psn) {
  ResponseRing(qp.resp).push({kind, syndrome, psn, qp.resp.msn, psn, 0, 0, 0, false});
  core.active.add(qp);
}

void acknowledge(Core& core, Qp& qp, std::uint32_t psn) {
  answer(core, qp, Response::Kind::kAck, wire::kAckUnlimitedCredits, psn);
}

// Refuses the packet at the expected PSN for good: NAK, an error completion if a receive was taken, QP in error.
void refuse(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status) {
  answer(core, qp, Response::Kind::kNak, syndrome, qp.resp.expected_psn);
  qp.resp.message = Message::kNone;
  if (qp.recv.wqe != nullptr) complete_recv(core, qp, receive_status, {});
  const ibv_event_type event = syndrome == wire::kNakRemoteAccess     ? IBV_EVENT_QP_ACCESS_ERR
                               : syndrome == wire::kNakInvalidRequest ? IBV_EVENT_QP_REQ_ERR
                                                                      : IBV_EVENT_QP_FATAL;
  enter_error(core, qp, event);
}

void refuse_invalid(Core& core, Qp& qp) { refuse(core, qp, wire::kNakInvalidRequest, IBV_WC_REM_INV_REQ_ERR); }
void refuse_access(Core& core, Qp& qp) { refuse(core, qp, wire::kNakRemoteAccess, IBV_WC_REM_ACCESS_ERR); }

// No receive request is posted: ask for another try after the QP's RNR timer.
void not_ready(Core& core, Qp& qp) {
  ++core.counters.send_rnr_err;
  qp.resp.nak_sent = true;
  qp.resp.last_ahead_psn = qp.resp.expected_psn;
  answer(core, qp, Response::Kind::kNak, static_cast<std::uint8_t>(wire::kRnrNak | qp.attr.min_rnr_timer),
         qp.resp.expected_psn);
}

bool in_order(const ResponderState& resp, const wire::OpcodeInfo& info) {
  switch (resp.message) {
    case Message::kNone:
      return info.has(wire::kIsStart) || info.has(wire::kIsRead);
    case Message::kSend:
      return info.has(wire::kIsSend) && !info.has(wire::kIsStart);
    case Message::kWrite:
      return info.has(wire::kIsWrite) && !info.has(wire::kIsStart);
  }
  return false;
}

// First and middle packets are exactly MTU long, a last one 1 to MTU, an only one at most MTU.
bool length_fits(const Qp& qp, const wire::OpcodeInfo& info, std::size_t size) {
  if (!info.has(wire::kIsEnd)) return size == qp.mtu;
  return size <= qp.mtu && (info.has(wire::kIsStart) || size > 0);
}

// A packet of the message is done.
void advance(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info) {
  ResponderState& resp = qp.resp;
  if (info.has(wire::kIsEnd)) {
    resp.message = Message::kNone;
    resp.msn = psn_add(resp.msn, 1);
  }
  const std::uint32_t psn = resp.expected_psn;
  resp.expected_psn = psn_add(psn, 1);
  if (bth.ack_req) acknowledge(core, qp, psn);
}

__be32 immediate(const wire::OpcodeInfo& info, std::span<const std::uint8_t> transport) {
  __be32 value = 0;
  if (info.has(wire::kHasImmDt)) std::memcpy(&value, transport.data() + info.imm_dt, sizeof value);
  return value;
}

void finish_receive(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                    std::span<const std::uint8_t> transport, ibv_wc_opcode opcode, std::uint32_t length) {
  Received received;
  received.opcode = opcode;
  received.byte_len = length;
  received.imm_data = immediate(info, transport);
  received.flags = info.has(wire::kHasImmDt) ? IBV_WC_WITH_IMM : 0;
  received.src_qp = qp.attr.dest_qp_num;
  received.solicited = bth.solicited;
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

void take_send(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
               std::span<const std::uint8_t> transport) {
  ResponderState& resp = qp.resp;
  const std::span<const std::uint8_t> payload = transport.subspan(info.header_size);
  if (info.has(wire::kIsStart)) {
    if (!take_recv(qp)) return not_ready(core, qp);
    resp.message = Message::kSend;
    resp.offset = 0;
  }
  const TakenRecv& recv = qp.recv;
  if (payload.size() > recv.wqe->length - resp.offset) {
    return refuse(core, qp, wire::kNakInvalidRequest, IBV_WC_LOC_LEN_ERR);
  }
  if (!scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, resp.offset, payload.data(), payload.size())) {
    return refuse(core, qp, wire::kNakRemoteOperational, IBV_WC_LOC_PROT_ERR);
  }
  resp.offset += static_cast<std::uint32_t>(payload.size());
  const std::uint32_t length = resp.offset;
  advance(core, qp, bth, info);
  if (info.has(wire::kIsEnd)) finish_receive(core, qp, bth, info, transport, IBV_WC_RECV, length);
}

void take_write(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                std::span<const std::uint8_t> transport) {
  ResponderState& resp = qp.resp;
  const std::span<const std::uint8_t> payload = transport.subspan(info.header_size);
  if (info.has(wire::kIsStart)) {
    const wire::Reth reth = wire::Reth::parse(transport.data() + info.reth);
    if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0 || reth.length > kMaxRdmaLength) {
      return refuse_invalid(core, qp);
    }
    // A zero-length write touches nothing, whatever its key says (IBTA 9.7.4.1.5).
    if (reth.length > 0) {
      const Mr* mr = core.mrs.find(reth.rkey, qp.pd, IBV_ACCESS_REMOTE_WRITE);
      if (mr == nullptr || mr->at(reth.address, reth.length) == nullptr) return refuse_access(core, qp);
    }
    resp.offset = 0;
    resp.length = reth.length;
    resp.rkey = reth.rkey;
    resp.address = reth.address;
  }
  const std::uint32_t left = resp.length - resp.offset;
  if (info.has(wire::kIsEnd) ? payload.size() != left : payload.size() >= left) return refuse_invalid(core, qp);
  if (info.has(wire::kHasImmDt) && !take_recv(qp)) return not_ready(core, qp);
  resp.message = Message::kWrite;
  if (!payload.empty()) {
    const Mr* mr = core.mrs.find(resp.rkey, qp.pd, IBV_ACCESS_REMOTE_WRITE);
    std::uint8_t* memory = mr != nullptr ? mr->at(resp.address + resp.offset, payload.size()) : nullptr;
    if (memory == nullptr || !guarded_copy(memory, payload.data(), payload.size())) return refuse_access(core, qp);
    resp.offset += static_cast<std::uint32_t>(payload.size());
  }
  const std::uint32_t length = resp.length;
  advance(core, qp, bth, info);
  if (info.has(wire::kHasImmDt)) finish_receive(core, qp, bth, info, transport, IBV_WC_RECV_RDMA_WITH_IMM, length);
}

std::uint32_t response_packets(const Qp& qp, std::uint32_t length) {
  return length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{length} + qp.mtu - 1) / qp.mtu);
}

bool may_read(Core& core, const Qp& qp, const wire::Reth& reth) {
  if (reth.length == 0) return true;
  const Mr* mr = core.mrs.find(reth.rkey, qp.pd, IBV_ACCESS_REMOTE_READ);
  return mr != nullptr && mr->at(reth.address, reth.length) != nullptr;
}

bool queue_read(Core& core, Qp& qp, const wire::Reth& reth, std::uint32_t psn) {
  if (qp.resp.reads >= qp.attr.max_dest_rd_atomic) return false;
  const std::uint32_t last = psn_add(psn, response_packets(qp, reth.length) - 1);
  const bool queued = ResponseRing(qp.resp).push(
      {Response::Kind::kRead, 0, psn, qp.resp.msn, last, reth.rkey, reth.length, reth.address, true});
  core.active.add(qp);
  return queued;
}

void take_read(Core& core, Qp& qp, const wire::OpcodeInfo& info, std::span<const std::uint8_t> transport) {
  ResponderState& resp = qp.resp;
  const wire::Reth reth = wire::Reth::parse(transport.data() + info.reth);
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 || reth.length > kMaxRdmaLength ||
      qp.attr.max_dest_rd_atomic == 0 || transport.size() != info.header_size) {
    return refuse_invalid(core, qp);
  }
  if (!may_read(core, qp, reth)) return refuse_access(core, qp);
  const std::uint32_t psn = resp.expected_psn;
  resp.msn = psn_add(resp.msn, 1);
  if (!queue_read(core, qp, reth, psn)) {
    resp.msn = psn_add(resp.msn, kPsnMask);
    return;  // more than the requester may have outstanding: not taken, it will ask again
  }
  resp.expected_psn = psn_add(psn, response_packets(qp, reth.length));
}

// A packet that was executed before: its answer was lost, or it was doubled on the way.
void take_duplicate(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                    std::span<const std::uint8_t> transport) {
  ++core.counters.duplicate_request;
  if (!info.has(wire::kIsRead)) {
    acknowledge(core, qp, psn_add(qp.resp.expected_psn, kPsnMask));
    return;
  }
  const wire::Reth reth = wire::Reth::parse(transport.data() + info.reth);
  const std::uint32_t end = psn_add(bth.psn, response_packets(qp, reth.length));
  // Only what was asked for before is answered again; a read can simply be executed once more (IBTA 9.7.5.1.2).
  if (psn_before(qp.resp.expected_psn, end) || reth.length > kMaxRdmaLength || !may_read(core, qp, reth) ||
      (qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0) {
    return;
  }
  ResponseRing(qp.resp).drop_from(bth.psn);
  queue_read(core, qp, reth, bth.psn);
}

void send_acknowledgement(Core& core, Qp& qp, const Response& response) {
  PacketBuilder packet(core, core.port_of(qp), qp.path, wire::make_opcode(wire::Transport::kRc, wire::kAcknowledge));
  wire::Aeth{response.syndrome, response.msn}.emit(packet.aeth());
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
      wire::make_opcode(wire::Transport::kRc, response_operation(response.first, response.psn == response.last_psn));
  PacketBuilder packet(core, core.port_of(qp), qp.path, opcode);
  if (size > 0) {
    const Mr* mr = core.mrs.find(response.rkey, qp.pd, IBV_ACCESS_REMOTE_READ);
    const std::uint8_t* memory = mr != nullptr ? mr->at(response.address, size) : nullptr;
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

void take_request(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                  std::span<const std::uint8_t> transport) {
  ResponderState& resp = qp.resp;
  if (!resp.communication_established && qp.state == IBV_QPS_RTR) {
    core.events.async({IBV_EVENT_COMM_EST, &qp, nullptr, qp.attr.port_num});
  }
  resp.communication_established = true;

  const std::int32_t ahead = psn_diff(bth.psn, resp.expected_psn);
  if (ahead < 0) return take_duplicate(core, qp, bth, info, transport);
  if (ahead > 0) {
    // PSNs that begin anew mean that the requester repeats and that the repetition was lost as well: waiting for its
    // timeout would cost it a thousand round trips.
    const bool again = resp.nak_sent && !psn_before(resp.last_ahead_psn, bth.psn);
    resp.last_ahead_psn = bth.psn;
    if (resp.nak_sent && !again) return;
    ++core.counters.out_of_seq_request;
    resp.nak_sent = true;
    return answer(core, qp, Response::Kind::kNak, wire::kNakPsnSequence, resp.expected_psn);
  }
  resp.nak_sent = false;
  if (!in_order(resp, info)) return refuse_invalid(core, qp);
  if (info.has(wire::kIsRead)) return take_read(core, qp, info, transport);
  if (!length_fits(qp, info, transport.size() - info.header_size)) return refuse_invalid(core, qp);
  if (info.has(wire::kIsSend) && !info.has(wire::kHasIeth)) return take_send(core, qp, bth, info, transport);
  if (info.has(wire::kIsWrite)) return take_write(core, qp, bth, info, transport);
  refuse_invalid(core, qp);
}

void take_datagram(Core& core, Qp& qp, const wire::FrameView& frame, const wire::Bth& bth, const wire::OpcodeInfo& info,
                   std::span<const std::uint8_t> transport) {
  const wire::Deth deth = wire::Deth::parse(transport.data() + info.deth);
  const std::span<const std::uint8_t> payload = transport.subspan(info.header_size);
  // Nothing answers a datagram: what cannot be taken is dropped, and the receive request stays.
  const RecvWqe* next = next_recv(qp);
  if (deth.qkey != qp.attr.qkey || next == nullptr || payload.size() > mtu_bytes(core.port_of(qp).active_mtu()) ||
      next->length < payload.size() + kGrhSize) {
    ++core.counters.dropped_pkts;
    return;
  }
  take_recv(qp);
  // The network header comes first in the buffer: an IPv6 header is a GRH, an IPv4 header sits in its last 20 bytes.
  std::uint8_t grh[kGrhSize] = {};
  std::memcpy(grh + kGrhSize - frame.ip.size(), frame.ip.data(), frame.ip.size());
  const TakenRecv& recv = qp.recv;
  if (!scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, 0, grh, kGrhSize) ||
      !scatter(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, kGrhSize, payload.data(), payload.size())) {
    complete_recv(core, qp, IBV_WC_LOC_PROT_ERR, {});
    enter_error(core, qp, IBV_EVENT_QP_FATAL);
    return;
  }
  Received received;
  received.byte_len = static_cast<std::uint32_t>(payload.size()) + kGrhSize;
  received.imm_data = immediate(info, transport);
  received.flags = IBV_WC_GRH | (info.has(wire::kHasImmDt) ? unsigned{IBV_WC_WITH_IMM} : 0u);
  received.src_qp = deth.src_qpn;
  received.solicited = bth.solicited;
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

std::size_t run_responder(Core& core, Qp& qp, std::size_t budget) {
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
      ring.push({Response::Kind::kNak, wire::kNakRemoteAccess, psn, qp.resp.msn, psn, 0, 0, 0, false});
      if (qp.state != IBV_QPS_ERR) enter_error(core, qp, IBV_EVENT_QP_ACCESS_ERR);
      continue;
    }
    if (response.remaining == 0 && psn_before(response.last_psn, response.psn)) ring.pop();
  }
  return count;
}

}  // namespace verbs::soft::nic
