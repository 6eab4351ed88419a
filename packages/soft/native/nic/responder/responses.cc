#include "nic/responder/responses.h"

#include <algorithm>

#include "nic/base/guarded_memory.h"
#include "nic/base/limits.h"
#include "nic/core/completion.h"
#include "nic/core/explanation.h"
#include "nic/core/packet_builder.h"
#include "nic/core/payload.h"
#include "nic/core/ways.h"
#include "nic/responder/execution.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

// An acknowledgement or a NAK as a message (requester.cc). False: it needs a packet.
bool send_answer(Core& core, Qp& qp, const Response& response) {
  link::MessageWay* way = way_of(core, qp);
  if (way == nullptr || way->reserve(0) == nullptr) return false;
  way->commit({.opcode = wire::kAcknowledge,
               .flags = 0,
               .syndrome = response.syndrome,
               .reserved = 0,
               .dest_qpn = qp.attr.dest_qp_num,
               .psn = response.psn,
               .value = response.msn,
               .address = 0,
               .rkey = 0,
               .reserved_too = 0,
               .route = qp.route},
              0);
  ++core.carried;
  ++core.counters.sent_pkts;
  core.counters.sent_bytes += packet_size(qp, wire::kOpcodes[wire::kAcknowledge], 0);
  return true;
}

void send_acknowledgement(Core& core, Qp& qp, const Response& response) {
  if (response.kind != Response::Kind::kAtomic && send_answer(core, qp, response)) return;
  const bool atomic = response.kind == Response::Kind::kAtomic;
  PacketBuilder packet(core, qp, atomic ? wire::kAtomicAcknowledge : wire::kAcknowledge);
  wire::Aeth{response.syndrome, response.msn}.emit(packet.aeth());
  if (atomic) wire::store_be(packet.atomic_ack_eth(), response.source);
  packet.bth.psn = response.psn;
  packet.send(0);
}

wire::Operation read_response_operation(bool first, bool last) {
  if (first) return last ? wire::kReadResponseOnly : wire::kReadResponseFirst;
  return last ? wire::kReadResponseLast : wire::kReadResponseMiddle;
}

// Sends one packet of a READ response, or one that refers to the payload of several. False when the memory is gone.
bool send_read_packet(Core& core, Qp& qp, Response& response) {
  const bool refers = response.may_refer && may_refer(core, qp, false, response.remaining);
  const std::uint32_t most = refers ? static_cast<std::uint32_t>(link::kMostReferred) : qp.mtu;
  const std::uint32_t size = std::min(response.remaining, most);
  const std::uint32_t psns = refers ? (size + qp.mtu - 1) / qp.mtu : 1;
  const std::uint32_t next_psn = psn_add(response.psn, psns);
  PacketBuilder packet(core, qp, read_response_operation(response.first, psn_before(response.last_psn, next_psn)));
  RemoteMemory memory;
  if (size > 0) {
    memory = remote_memory(core, qp, response.pd, response.rkey, response.source, size, IBV_ACCESS_REMOTE_READ);
    if (memory.at == nullptr || (!refers && !guarded_copy(packet.payload(), memory.at, size, memory.lasts)))
      return false;
  }
  if (packet.has(wire::kHasAeth)) wire::Aeth{wire::kAckUnlimitedCredits, response.msn}.emit(packet.aeth());
  packet.bth.psn = response.psn;
  if (refers) {
    MemoryPieces pieces;
    pieces.add(memory.at, size);
    packet.send_referring(pieces);
    remote_region(core, qp, response.pd, response.rkey)->referred = qp.resp.refers = true;
    ReplayEntry* entry = qp.resp.replay_cache.find_last(response.psn);
    if (entry != nullptr) entry->add_referred(response.psn, next_psn);
  } else {
    packet.send(size);
  }
  response.first = false;
  response.psn = next_psn;
  response.source += size;
  response.remaining -= size;
  return true;
}

}  // namespace

bool queue_response(Core& core, Qp& qp, const Response& response) {
  core.active.add(qp);
  const ResponseQueue::Push result = qp.resp.responses.push(response);
  if (result == ResponseQueue::Push::kMerged) ++core.counters.ack_deferred;
  return result != ResponseQueue::Push::kFull;
}

// Where those to later requests cannot stay behind it, they go: the requester sees the gap, and asks again.
bool queue_response_again(Core& core, Qp& qp, Response response) {
  ResponseQueue& responses = qp.resp.responses;
  response.again = true;
  if (responses.insert(response)) {
    core.active.add(qp);
    return true;
  }
  responses.drop_from(response.psn);
  return queue_response(core, qp, response);
}

void queue_ack(Core& core, Qp& qp, std::uint32_t psn) {
  if (qp.resp.responses.merge_ack(psn, qp.resp.msn)) {
    core.active.add(qp);
    ++core.counters.ack_deferred;
    return;
  }
  queue_response(core, qp, {.kind = Response::Kind::kAck, .psn = psn, .msn = qp.resp.msn, .last_psn = psn});
}

std::size_t send_responses(Core& core, Qp& qp, std::size_t budget) {
  ResponseQueue& responses = qp.resp.responses;
  std::size_t count = 0;
  for (; count < budget && !responses.empty(); ++count) {
    Response& response = responses.front();
    if (response.kind != Response::Kind::kRead) {
      const Response copy = response;
      responses.pop();
      send_acknowledgement(core, qp, copy);
      continue;
    }
    if (!send_read_packet(core, qp, response)) {
      nak_lost_read(core, qp, response.psn,
                    why_no_remote_access(core, qp, response.pd, response.rkey, response.source, response.remaining,
                                         IBV_ACCESS_REMOTE_READ));
      continue;
    }
    if (response.remaining == 0 && psn_before(response.last_psn, response.psn)) responses.pop();
  }
  return count;
}

namespace {

ibv_event_type event_of(std::uint8_t syndrome) {
  if (syndrome == wire::kNakRemoteAccess) return IBV_EVENT_QP_ACCESS_ERR;
  return syndrome == wire::kNakInvalidRequest ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_FATAL;
}

}  // namespace

Response make_nak(const Qp& qp, std::uint8_t syndrome, std::uint32_t psn) {
  return {.kind = Response::Kind::kNak, .syndrome = syndrome, .psn = psn, .msn = qp.resp.msn, .last_psn = psn};
}

void nak_fatal(Core& core, Qp& qp, std::uint8_t syndrome, ibv_wc_status receive_status, const Why& why) {
  if (!qp.is_reliable()) {
    if (syndrome != wire::kNakRemoteOperational) return drop_message(core, qp, receive_status, why);
    explain_responder(core, qp, 0, receive_status, why);
    complete_recv(core, qp, receive_status, {});
    return enter_error(core, qp, IBV_EVENT_QP_FATAL);
  }
  explain_responder(core, qp, syndrome, receive_status, why);
  queue_response(core, qp, make_nak(qp, syndrome, qp.resp.expected_psn));
  qp.resp.message = ResponderState::Message::kNone;
  if (qp.recv.wqe != nullptr) complete_recv(core, qp, receive_status, {});
  enter_error(core, qp, event_of(syndrome));
}

void nak_invalid_request(Core& core, Qp& qp, const Why& why) {
  nak_fatal(core, qp, wire::kNakInvalidRequest, IBV_WC_REM_INV_REQ_ERR, why);
}
void nak_remote_access(Core& core, Qp& qp, const Why& why) {
  nak_fatal(core, qp, wire::kNakRemoteAccess, IBV_WC_REM_ACCESS_ERR, why);
}

void nak_lost_read(Core& core, Qp& qp, std::uint32_t psn, const Why& why) {
  explain_responder(core, qp, wire::kNakRemoteAccess, IBV_WC_SUCCESS, why);
  qp.resp.responses.drop_from(psn);
  queue_response(core, qp, make_nak(qp, wire::kNakRemoteAccess, psn));
  if (qp.state != IBV_QPS_ERR) enter_error(core, qp, IBV_EVENT_QP_ACCESS_ERR);
}

void nak_sequence_error(Core& core, Qp& qp) {
  ++core.counters.out_of_seq_request;
  qp.resp.nak_sent = true;
  queue_response(core, qp, make_nak(qp, wire::kNakPsnSequence, qp.resp.expected_psn));
}

void nak_unread(Core& core, Qp& qp) {
  qp.resp.nak_sent = true;
  qp.resp.last_ahead_psn = qp.resp.expected_psn;
  queue_response(core, qp, make_nak(qp, wire::kNakPsnSequence, qp.resp.expected_psn));
}

void nak_receiver_not_ready(Core& core, Qp& qp, std::size_t size) {
  if (!qp.is_reliable()) return drop_message(core, qp, IBV_WC_SUCCESS, {Reason::kDropNoReceive, {size}});
  ++core.counters.send_rnr_err;
  qp.resp.nak_sent = true;
  qp.resp.last_ahead_psn = qp.resp.expected_psn;
  const auto syndrome = static_cast<std::uint8_t>(wire::kRnrNak | qp.attr.min_rnr_timer);
  queue_response(core, qp, make_nak(qp, syndrome, qp.resp.expected_psn));
}

void drop_message(Core& core, Qp& qp, ibv_wc_status receive_status, const Why& why) {
  explain_drop(core, why, &qp, nullptr);
  ++core.counters.dropped_pkts;
  qp.resp.message = ResponderState::Message::kNone;
  if (qp.recv.srq != nullptr) {
    complete_recv(core, qp, receive_status, {});
  } else {
    qp.recv = {};
  }
}

namespace {

// An atomic returns the value before it; ATOMIC WRITE and FLUSH return a READ response without data.
Response make_response(const Qp& qp, const wire::OpcodeInfo& info, std::uint32_t psn, std::uint64_t original) {
  const bool atomic = info.has(wire::kIsAtomic);
  return {.kind = atomic ? Response::Kind::kAtomic : Response::Kind::kRead,
          .psn = psn,
          .msn = qp.resp.msn,
          .last_psn = psn,
          .source = original};
}

}  // namespace

bool allows(const Qp& qp, unsigned rights) {
  return (qp.attr.qp_access_flags & rights) == rights && qp.attr.max_dest_rd_atomic > 0;
}

bool is_out_of_resources(const Qp& qp) { return qp.resp.responses.resources() >= qp.attr.max_dest_rd_atomic; }

void respond_and_cache(Core& core, Qp& qp, const Packet& packet, std::uint64_t original) {
  ResponderState& resp = qp.resp;
  const std::uint32_t psn = resp.expected_psn;
  resp.replay_cache.add({psn, packet.bth.opcode, original});
  resp.msn = psn_add(resp.msn, 1);
  resp.expected_psn = psn_add(psn, 1);
  queue_response(core, qp, make_response(qp, packet.info, psn, original));
}

void replay(Core& core, Qp& qp, const Packet& packet) {
  const ReplayEntry* entry = qp.resp.replay_cache.find(packet.bth.psn, packet.bth.opcode);
  if (entry == nullptr || qp.resp.responses.holds(entry->psn)) return;
  queue_response_again(core, qp, make_response(qp, packet.info, entry->psn, entry->original));
}

}  // namespace verbs::soft::nic
