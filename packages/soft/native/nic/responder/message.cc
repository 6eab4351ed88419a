#include "nic/responder/message.h"

#include <cstring>

#include "nic/device/completion.h"
#include "nic/device/receive_queue.h"
#include "nic/device/scatter.h"
#include "nic/responder/read.h"
#include "nic/responder/remote_memory.h"
#include "nic/responder/response.h"
#include "nic/shared/guarded_memory.h"
#include "nic/shared/psn.h"

namespace verbs::soft::nic {
namespace {

using Message = ResponderState::Message;

// A packet of the message is done.
void advance(Core& core, Qp& qp, const Request& request) {
  ResponderState& resp = qp.resp;
  if (request.has(wire::kIsEnd)) {
    resp.message = Message::kNone;
    resp.msn = psn_add(resp.msn, 1);
  }
  const std::uint32_t psn = resp.expected_psn;
  resp.expected_psn = psn_add(psn, 1);
  if (request.bth.ack_req && qp.is_reliable()) acknowledge(core, qp, psn);
}

void finish_receive(Core& core, Qp& qp, const Request& request, ibv_wc_opcode opcode, std::uint32_t length) {
  Received received;
  received.opcode = opcode;
  received.byte_len = length;
  received.imm_data = immediate(request);
  received.flags = request.has(wire::kHasImmDt) ? IBV_WC_WITH_IMM : request.has(wire::kHasIeth) ? IBV_WC_WITH_INV : 0;
  received.src_qp = qp.attr.dest_qp_num;
  received.solicited = request.bth.solicited;
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

}  // namespace

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

bool length_fits(const Qp& qp, const Request& request) {
  const std::size_t size = request.payload().size();
  if (!request.has(wire::kIsEnd)) return size == qp.mtu;
  return size <= qp.mtu && (request.has(wire::kIsStart) || size > 0);
}

__be32 immediate(const Request& request) {
  __be32 value = 0;
  if (request.has(wire::kHasImmDt)) std::memcpy(&value, request.header(request.info.imm_dt), sizeof value);
  if (request.has(wire::kHasIeth)) value = wire::load_be<std::uint32_t>(request.header(request.info.ieth));
  return value;
}

void take_send(Core& core, Qp& qp, const Request& request) {
  ResponderState& resp = qp.resp;
  const std::span<const std::uint8_t> payload = request.payload();
  if (request.has(wire::kIsStart)) {
    if (!take_recv(core, qp)) return not_ready(core, qp);
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
  if (request.has(wire::kHasIeth) && !core.mws.invalidate(qp, immediate(request))) {
    // Not a matter for a NAK (IBTA 9.9.3.1.4, class J): the receiver learns of it, the sender by its timeout.
    complete_recv(core, qp, IBV_WC_REM_INV_REQ_ERR, {});
    return enter_error(core, qp, IBV_EVENT_QP_REQ_ERR);
  }
  advance(core, qp, request);
  if (request.has(wire::kIsEnd)) finish_receive(core, qp, request, IBV_WC_RECV, length);
}

void take_write(Core& core, Qp& qp, const Request& request) {
  ResponderState& resp = qp.resp;
  const std::span<const std::uint8_t> payload = request.payload();
  if (request.has(wire::kIsStart)) {
    const wire::Reth reth = wire::Reth::parse(request.header(request.info.reth));
    if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0 || reth.length > kMaxRdmaLength) {
      return refuse_invalid(core, qp);
    }
    // A zero-length write touches nothing, whatever its key says (IBTA 9.7.4.1.5).
    if (reth.length > 0 && remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length,
                                         IBV_ACCESS_REMOTE_WRITE) == nullptr) {
      return refuse_access(core, qp);
    }
    resp.offset = 0;
    resp.length = reth.length;
    resp.rkey = reth.rkey;
    resp.address = reth.address;
  }
  const std::uint32_t left = resp.length - resp.offset;
  if (request.has(wire::kIsEnd) ? payload.size() != left : payload.size() >= left) return refuse_invalid(core, qp);
  if (request.has(wire::kHasImmDt) && !take_recv(core, qp)) return not_ready(core, qp);
  resp.message = Message::kWrite;
  if (!payload.empty()) {
    std::uint8_t* memory = remote_memory(core, qp, qp.remote_pd, resp.rkey, resp.address + resp.offset, payload.size(),
                                         IBV_ACCESS_REMOTE_WRITE);
    if (memory == nullptr) return refuse_access(core, qp);
    // The key is right and the memory is gone: for who posted the receive request an error of its own (IBTA 11.6.2).
    if (!guarded_copy(memory, payload.data(), payload.size())) {
      return refuse(core, qp, wire::kNakRemoteAccess, IBV_WC_LOC_ACCESS_ERR);
    }
    resp.offset += static_cast<std::uint32_t>(payload.size());
  }
  const std::uint32_t length = resp.length;
  advance(core, qp, request);
  if (request.has(wire::kHasImmDt)) finish_receive(core, qp, request, IBV_WC_RECV_RDMA_WITH_IMM, length);
}

}  // namespace verbs::soft::nic
