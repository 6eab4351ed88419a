#include "nic/responder/message.h"

#include "nic/device/completion.h"
#include "nic/device/pull.h"
#include "nic/device/qp_error.h"
#include "nic/device/receive_request.h"
#include "nic/device/scatter.h"
#include "nic/responder/nak.h"
#include "nic/responder/read.h"
#include "nic/responder/remote_memory.h"
#include "nic/responder/responses.h"
#include "nic/shared/guarded_memory.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

using Message = ResponderState::Message;

// The packet was executed: moves the state to the next one and acknowledges on request.
void advance(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  if (packet.has(wire::kIsEnd)) {
    resp.message = Message::kNone;
    resp.msn = psn_add(resp.msn, 1);
  }
  const std::uint32_t psn = resp.expected_psn;
  resp.expected_psn = psn_add(psn, packet.psns(qp.mtu));
  if (packet.bth.ack_req && qp.is_reliable()) queue_ack(core, qp, psn_add(resp.expected_psn, kPsnMask));
}

// Into the receive request in progress.
bool pull_to_recv(const Core& core, const Qp& qp, std::size_t offset, const ReferredPayload& referred) {
  const CurrentRecv& recv = qp.recv;
  return pull(core.mrs, recv.pd, recv.sges, recv.wqe->num_sge, offset, referred);
}

bool pull_to(std::uint8_t* memory, const ReferredPayload& referred) {
  const iovec to{memory, referred.size};
  return pull({&to, 1}, referred);
}

// The message takes a receive request, unless it has it since a packet whose payload could not be read.
bool take_recv(Core& core, Qp& qp) { return qp.recv.wqe != nullptr || dequeue_recv(core, qp); }

void finish_receive(Core& core, Qp& qp, const Packet& packet, ibv_wc_opcode opcode, std::uint32_t length) {
  Received received;
  received.opcode = opcode;
  received.byte_len = length;
  received.imm_data = packet.immediate();
  received.flags = packet.has(wire::kHasImmDt) ? IBV_WC_WITH_IMM : packet.has(wire::kHasIeth) ? IBV_WC_WITH_INV : 0;
  received.src_qp = qp.attr.dest_qp_num;
  received.solicited = packet.bth.solicited;
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

// The key of a WRITE, or its range, is wrong. With immediate data in this packet, its receive request is over too: it
// completes with the error that the specification has for this (IBTA 11.6.2), and is not just flushed.
void nak_write_access(Core& core, Qp& qp, const Packet& packet) {
  if (qp.is_reliable() && qp.recv.wqe == nullptr && packet.has(wire::kHasImmDt)) dequeue_recv(core, qp);
  nak_fatal(core, qp, wire::kNakRemoteAccess, IBV_WC_LOC_ACCESS_ERR);
}

// The first packet of a WRITE: its RETH is checked for the whole message, whose memory is `memory`. False: a NAK was
// sent.
bool begin_write(Core& core, Qp& qp, const Packet& packet, RemoteMemory* memory) {
  ResponderState& resp = qp.resp;
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0 || reth.length > kMaxRdmaLength) {
    nak_invalid_request(core, qp);
    return false;
  }
  // A zero-length WRITE accesses no memory, so its key is not checked (IBTA 9.7.4.1.5).
  if (reth.length > 0) {
    *memory = remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_WRITE);
    if (memory->at == nullptr) {
      nak_write_access(core, qp, packet);
      return false;
    }
  }
  resp.offset = 0;
  resp.length = reth.length;
  resp.rkey = reth.rkey;
  resp.address = reth.address;
  return true;
}

}  // namespace

bool continues_message(const ResponderState& resp, const wire::OpcodeInfo& info) {
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

bool has_valid_length(const Qp& qp, const Packet& packet) {
  const std::size_t size = packet.payload_size();
  if (packet.referred != nullptr) return size > 0 && (packet.has(wire::kIsEnd) || size % qp.mtu == 0);
  if (!packet.has(wire::kIsEnd)) return size == qp.mtu;
  return size <= qp.mtu && (packet.has(wire::kIsStart) || size > 0);
}

void execute_send(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const std::size_t size = packet.payload_size();
  if (packet.has(wire::kIsStart)) {
    if (!take_recv(core, qp)) return nak_receiver_not_ready(core, qp);
    resp.offset = 0;
  }
  if (size > qp.recv.wqe->length - resp.offset) {
    return nak_fatal(core, qp, wire::kNakInvalidRequest, IBV_WC_LOC_LEN_ERR);
  }
  if (packet.referred != nullptr) {
    if (!pull_to_recv(core, qp, resp.offset, *packet.referred)) return nak_unread(core, qp);
  } else if (!write_to_recv(core, qp, resp.offset, packet.payload())) {
    return nak_fatal(core, qp, wire::kNakRemoteOperational, IBV_WC_LOC_PROT_ERR);
  }
  resp.message = Message::kSend;
  resp.offset += static_cast<std::uint32_t>(size);
  const std::uint32_t length = resp.offset;
  if (packet.has(wire::kHasIeth) && !core.mws.invalidate(qp, packet.immediate())) {
    // No NAK for this (IBTA 9.9.3.1.4, class J): the receiver gets an error completion, the sender a timeout.
    complete_recv(core, qp, IBV_WC_REM_INV_REQ_ERR, {});
    return enter_error(core, qp, IBV_EVENT_QP_REQ_ERR);
  }
  advance(core, qp, packet);
  if (packet.has(wire::kIsEnd)) finish_receive(core, qp, packet, IBV_WC_RECV, length);
}

void execute_write(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const std::size_t size = packet.payload_size();
  RemoteMemory memory;
  if (packet.has(wire::kIsStart) && !begin_write(core, qp, packet, &memory)) return;
  const std::uint32_t left = resp.length - resp.offset;
  if (packet.has(wire::kIsEnd) ? size != left : size >= left) return nak_invalid_request(core, qp);
  if (packet.has(wire::kHasImmDt) && !take_recv(core, qp)) return nak_receiver_not_ready(core, qp);
  if (size > 0) {
    if (memory.at == nullptr) {  // the key may have changed since the first packet
      memory =
          remote_memory(core, qp, qp.remote_pd, resp.rkey, resp.address + resp.offset, size, IBV_ACCESS_REMOTE_WRITE);
    }
    if (memory.at == nullptr) return nak_write_access(core, qp, packet);
    if (packet.referred != nullptr) {
      if (!pull_to(memory.at, *packet.referred)) return nak_unread(core, qp);
    } else if (!guarded_copy(memory.at, packet.payload().data(), size, memory.lasts)) {
      // The key is right but the memory is gone: the receive request completes with an error of its own (IBTA 11.6.2).
      return nak_fatal(core, qp, wire::kNakRemoteAccess, IBV_WC_LOC_ACCESS_ERR);
    }
    resp.offset += static_cast<std::uint32_t>(size);
  }
  resp.message = Message::kWrite;
  const std::uint32_t length = resp.length;
  advance(core, qp, packet);
  if (packet.has(wire::kIsEnd)) qp.count(CompletionCounter::kRemoteWrite, IBV_WC_SUCCESS, length);
  if (packet.has(wire::kHasImmDt)) finish_receive(core, qp, packet, IBV_WC_RECV_RDMA_WITH_IMM, length);
}

}  // namespace verbs::soft::nic
