#include "nic/responder/execution.h"

#include <atomic>
#include <cstring>

#include "nic/base/guarded_memory.h"
#include "nic/base/limits.h"
#include "nic/base/mapped_memory.h"
#include "nic/core/completion.h"
#include "nic/core/explanation.h"
#include "nic/core/payload.h"
#include "nic/responder/responses.h"
#include "nic/responder/tag_matching.h"

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
  if (qp.matches_tags) [[unlikely]]
    return finish_message(core, qp, packet, received);
  if (!complete_recv(core, qp, IBV_WC_SUCCESS, received)) enter_error(core, qp, IBV_EVENT_QP_FATAL);
}

// Why a queue pair does not take a request that needs `rights`; `answers`: one with a response of its own.
[[gnu::cold]] Why why_not_taken(const Qp& qp, unsigned rights, bool answers) {
  const unsigned has = qp.attr.qp_access_flags;
  if ((has & rights) != rights) return {Reason::kQpRight, {rights & ~has, has}};
  return {answers && qp.attr.max_dest_rd_atomic == 0 ? Reason::kNoReadsTaken : Reason::kRequestForm};
}

[[gnu::cold]] Why why_closed(const Core& core, const Qp& qp, std::uint32_t rkey, std::uint64_t address,
                             std::size_t size, unsigned access) {
  return why_no_remote_access(core, qp, qp.remote_pd, rkey, address, size, access);
}

// The key of a WRITE, or its range, is wrong. With immediate data in this packet, its receive request is over too: it
// completes with the error that the specification has for this (IBTA 11.6.2), and is not just flushed.
void nak_write_access(Core& core, Qp& qp, const Packet& packet, const Why& why) {
  if (qp.is_reliable() && qp.recv.wqe == nullptr && packet.has(wire::kHasImmDt)) dequeue_recv(core, qp);
  nak_fatal(core, qp, wire::kNakRemoteAccess, IBV_WC_LOC_ACCESS_ERR, why);
}

// The first packet of a WRITE: its RETH is checked for the whole message, whose memory is `memory`. False: a NAK was
// sent.
bool begin_write(Core& core, Qp& qp, const Packet& packet, RemoteMemory* memory) {
  ResponderState& resp = qp.resp;
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0 || reth.length > kMaxRdmaLength) {
    nak_invalid_request(core, qp, why_not_taken(qp, IBV_ACCESS_REMOTE_WRITE, false));
    return false;
  }
  // A zero-length WRITE accesses no memory, so its key is not checked (IBTA 9.7.4.1.5).
  if (reth.length > 0) {
    *memory = remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_WRITE);
    if (memory->at == nullptr) {
      nak_write_access(core, qp, packet,
                       why_closed(core, qp, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_WRITE));
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
  std::size_t headers = 0;  // that are not of the payload
  if (packet.has(wire::kIsStart)) {
    if (qp.matches_tags) [[unlikely]] {
      if (!match_message(core, qp, packet, &headers)) return;
    } else if (!take_recv(core, qp)) {
      return nak_receiver_not_ready(core, qp, packet.payload_size());
    }
    resp.offset = 0;
  }
  const std::size_t size = packet.payload_size() - headers;
  if (size > qp.recv.wqe->length - resp.offset) {
    return nak_fatal(core, qp, wire::kNakInvalidRequest, IBV_WC_LOC_LEN_ERR,
                     {Reason::kShortReceive, {qp.recv.wqe->length, resp.offset + size}});
  }
  if (packet.referred != nullptr) {
    if (!pull_to_recv(core, qp, resp.offset, *packet.referred)) return nak_unread(core, qp);
  } else if (!write_to_recv(core, qp, resp.offset, packet.payload().subspan(headers))) {
    return nak_fatal(core, qp, wire::kNakRemoteOperational, IBV_WC_LOC_PROT_ERR, why_no_receive_memory(core, qp));
  }
  resp.message = Message::kSend;
  resp.offset += static_cast<std::uint32_t>(size);
  const std::uint32_t length = resp.offset;
  if (packet.has(wire::kHasIeth) && !core.mws.invalidate(qp, packet.immediate())) {
    // No NAK for this (IBTA 9.9.3.1.4, class J): the receiver gets an error completion, the sender a timeout.
    explain_responder(core, qp, 0, IBV_WC_REM_INV_REQ_ERR, {Reason::kNotInvalidated, {packet.immediate()}});
    complete_recv(core, qp, IBV_WC_REM_INV_REQ_ERR, {});
    return enter_error(core, qp, IBV_EVENT_QP_REQ_ERR);
  }
  advance(core, qp, packet);
  if (packet.has(wire::kIsEnd)) return finish_receive(core, qp, packet, qp.recv.opcode, length);
  if (qp.recv.tagged && packet.has(wire::kIsStart)) [[unlikely]]
    report_match(core, qp, packet);
}

void execute_write(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const std::size_t size = packet.payload_size();
  RemoteMemory memory;
  if (packet.has(wire::kIsStart) && !begin_write(core, qp, packet, &memory)) return;
  const std::uint32_t left = resp.length - resp.offset;
  if (packet.has(wire::kIsEnd) ? size != left : size >= left) {
    return nak_invalid_request(core, qp, {Reason::kMessageLength});
  }
  if (packet.has(wire::kHasImmDt) && !take_recv(core, qp)) return nak_receiver_not_ready(core, qp, size);
  if (size > 0) {
    if (memory.at == nullptr) {  // the key may have changed since the first packet
      memory =
          remote_memory(core, qp, qp.remote_pd, resp.rkey, resp.address + resp.offset, size, IBV_ACCESS_REMOTE_WRITE);
    }
    if (memory.at == nullptr) {
      return nak_write_access(
          core, qp, packet, why_closed(core, qp, resp.rkey, resp.address + resp.offset, size, IBV_ACCESS_REMOTE_WRITE));
    }
    if (packet.referred != nullptr) {
      if (!pull_to(memory.at, *packet.referred)) return nak_unread(core, qp);
    } else if (!guarded_copy(memory.at, packet.payload().data(), size, memory.lasts)) {
      // The key is right but the memory is gone: the receive request completes with an error of its own (IBTA 11.6.2).
      return nak_fatal(core, qp, wire::kNakRemoteAccess, IBV_WC_LOC_ACCESS_ERR,
                       {Reason::kMemoryGone, {resp.address + resp.offset}});
    }
    resp.offset += static_cast<std::uint32_t>(size);
  }
  resp.message = Message::kWrite;
  const std::uint32_t length = resp.length;
  advance(core, qp, packet);
  if (packet.has(wire::kIsEnd)) qp.count(CompletionCounter::kRemoteWrite, IBV_WC_SUCCESS, length);
  if (packet.has(wire::kHasImmDt)) finish_receive(core, qp, packet, IBV_WC_RECV_RDMA_WITH_IMM, length);
}

namespace {

std::uint32_t response_packets(const Qp& qp, std::uint32_t length) {
  return length == 0 ? 1 : static_cast<std::uint32_t>((std::uint64_t{length} + qp.mtu - 1) / qp.mtu);
}

bool may_read(Core& core, const Qp& qp, const wire::Reth& reth) {
  return reth.length == 0 ||
         remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_READ).at !=
             nullptr;
}

// The requester says whether the response may refer to its payload (requester.cc).
Response make_read(const Qp& qp, const wire::Reth& reth, std::uint32_t psn, bool may_refer) {
  return {.kind = Response::Kind::kRead,
          .may_refer = may_refer,
          .psn = psn,
          .msn = qp.resp.msn,
          .last_psn = psn_add(psn, response_packets(qp, reth.length) - 1),
          .rkey = reth.rkey,
          .remaining = reth.length,
          .pd = qp.remote_pd,
          .source = reth.address};
}

}  // namespace

void execute_read(Core& core, Qp& qp, const Packet& packet) {
  ResponderState& resp = qp.resp;
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if ((qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 || reth.length > kMaxRdmaLength ||
      qp.attr.max_dest_rd_atomic == 0 || !packet.payload().empty()) {
    return nak_invalid_request(core, qp, why_not_taken(qp, IBV_ACCESS_REMOTE_READ, true));
  }
  if (!may_read(core, qp, reth)) {
    return nak_remote_access(core, qp,
                             why_closed(core, qp, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_READ));
  }
  const std::uint32_t psn = resp.expected_psn;
  resp.msn = psn_add(resp.msn, 1);
  if (is_out_of_resources(qp) || !queue_response(core, qp, make_read(qp, reth, psn, packet.bth.solicited))) {
    resp.msn = psn_add(resp.msn, kPsnMask);
    return;  // more than the requester may have outstanding: dropped, it comes again
  }
  qp.count(CompletionCounter::kRemoteRead, IBV_WC_SUCCESS, reth.length);
  resp.replay_cache.add({psn, packet.bth.opcode, 0});
  resp.expected_psn = psn_add(psn, response_packets(qp, reth.length));
}

void execute_read_again(Core& core, Qp& qp, const Packet& packet) {
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  const std::uint32_t end = psn_add(packet.bth.psn, response_packets(qp, reth.length));
  // A duplicate READ is executed again (IBTA 9.7.5.1.2), but only for PSNs that were requested before.
  if (psn_before(qp.resp.expected_psn, end) || reth.length > kMaxRdmaLength ||
      (qp.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0) {
    return;
  }
  ReplayEntry* entry = qp.resp.replay_cache.find_last(packet.bth.psn);
  const bool by_payload = !packet.bth.solicited && entry != nullptr;
  if (!may_read(core, qp, reth)) {
    // The requester may have all that it asked for before the key went. It has not if it could not read the response.
    if (by_payload && entry->has_referred(packet.bth.psn)) {
      nak_lost_read(core, qp, packet.bth.psn,
                    why_closed(core, qp, reth.rkey, reth.address, reth.length, IBV_ACCESS_REMOTE_READ));
    }
    return;
  }
  if (qp.resp.responses.holds(packet.bth.psn)) return;
  const Response response = make_read(qp, reth, packet.bth.psn, packet.bth.solicited);
  if (queue_response_again(core, qp, response) && by_payload) entry->remove_referred(end);
}

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

bool aligned(const std::uint8_t* memory, std::uint64_t address) {
  return ((reinterpret_cast<std::uintptr_t>(memory) | address) & (kWord - 1)) == 0;
}

[[gnu::cold]] void nak_misaligned(Core& core, Qp& qp, std::uint64_t address) {
  nak_invalid_request(core, qp, {Reason::kMisaligned, {address}});
}

bool execute(const Packet& packet, const wire::AtomicEth& eth, const RemoteMemory& memory, std::uint64_t* original) {
  if (wire::operation_of(packet.bth.opcode) == wire::kCompareSwap) {
    return guarded_compare_swap(memory.at, eth.compare, eth.swap_or_add, original, memory.lasts);
  }
  return guarded_fetch_add(memory.at, eth.swap_or_add, original, memory.lasts);
}

}  // namespace

void execute_atomic(Core& core, Qp& qp, const Packet& packet) {
  if (!allows(qp, IBV_ACCESS_REMOTE_ATOMIC) || !packet.payload().empty()) {
    return nak_invalid_request(core, qp, why_not_taken(qp, IBV_ACCESS_REMOTE_ATOMIC, true));
  }
  const wire::AtomicEth eth = wire::AtomicEth::parse(packet.header(packet.info.atomic_eth));
  if (core.config.rules.alignment_before_key && !aligned(nullptr, eth.address))
    return nak_misaligned(core, qp, eth.address);
  const RemoteMemory memory =
      remote_memory(core, qp, qp.remote_pd, eth.rkey, eth.address, kWord, IBV_ACCESS_REMOTE_ATOMIC);
  if (memory.at == nullptr) {
    return nak_remote_access(core, qp, why_closed(core, qp, eth.rkey, eth.address, kWord, IBV_ACCESS_REMOTE_ATOMIC));
  }
  if (!aligned(memory.at, eth.address)) return nak_misaligned(core, qp, eth.address);
  if (is_out_of_resources(qp)) return;
  std::uint64_t original = 0;
  if (!execute(packet, eth, memory, &original)) {
    return nak_remote_access(core, qp, {Reason::kMemoryGone, {eth.address}});
  }
  respond_and_cache(core, qp, packet, original);
}

void execute_atomic_write(Core& core, Qp& qp, const Packet& packet) {
  const std::span<const std::uint8_t> payload = packet.payload();
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if (!allows(qp, IBV_ACCESS_REMOTE_WRITE) || payload.size() != kWord || reth.length != kWord || packet.bth.pad != 0) {
    return nak_invalid_request(core, qp, why_not_taken(qp, IBV_ACCESS_REMOTE_WRITE, true));
  }
  if (core.config.rules.alignment_before_key && !aligned(nullptr, reth.address))
    return nak_misaligned(core, qp, reth.address);
  const RemoteMemory memory =
      remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, kWord, IBV_ACCESS_REMOTE_WRITE);
  if (memory.at == nullptr) {
    return nak_remote_access(core, qp, why_closed(core, qp, reth.rkey, reth.address, kWord, IBV_ACCESS_REMOTE_WRITE));
  }
  if (!aligned(memory.at, reth.address)) return nak_misaligned(core, qp, reth.address);
  if (is_out_of_resources(qp)) return;
  std::uint64_t value = 0;
  std::memcpy(&value, payload.data(), kWord);  // bytes in memory order, not a number
  if (!guarded_store(memory.at, value, memory.lasts)) {
    return nak_remote_access(core, qp, {Reason::kMemoryGone, {reth.address}});
  }
  respond_and_cache(core, qp, packet, 0);
}

namespace {

struct Range {
  std::uint8_t* memory = nullptr;
  std::size_t size = 0;
};

unsigned access_for(const wire::Feth& feth) {
  return ((feth.placement & wire::Feth::kGlobal) != 0 ? kAccessFlushGlobal : 0) |
         ((feth.placement & wire::Feth::kPersistent) != 0 ? kAccessFlushPersistent : 0);
}

bool is_known(const wire::Feth& feth) {
  constexpr unsigned kPlacements = wire::Feth::kGlobal | wire::Feth::kPersistent;
  return feth.placement != 0 && (feth.placement & ~kPlacements) == 0 && feth.selectivity <= wire::Feth::kRegion;
}

Range range_of(const Core& core, const Qp& qp, const wire::Feth& feth, const wire::Reth& reth) {
  const unsigned access = access_for(feth);
  if (feth.selectivity == wire::Feth::kRange) {
    return {remote_memory(core, qp, qp.remote_pd, reth.rkey, reth.address, reth.length, access).at, reth.length};
  }
  const Mr* mr = core.mrs.find(reth.rkey, qp.remote_pd, access);
  return mr != nullptr ? Range{mr->address, mr->length} : Range{};
}

}  // namespace

void execute_flush(Core& core, Qp& qp, const Packet& packet) {
  const wire::Feth feth = wire::Feth::parse(packet.header(packet.info.feth));
  const wire::Reth reth = wire::Reth::parse(packet.header(packet.info.reth));
  if (!is_known(feth) || !allows(qp, access_for(feth)) || !packet.payload().empty()) {
    return nak_invalid_request(core, qp, why_not_taken(qp, is_known(feth) ? access_for(feth) : 0, true));
  }
  const Range range = range_of(core, qp, feth, reth);
  if (range.memory == nullptr) {
    const std::size_t size = feth.selectivity == wire::Feth::kRange ? reth.length : 0;
    return nak_remote_access(core, qp, why_closed(core, qp, reth.rkey, reth.address, size, access_for(feth)));
  }
  if (is_out_of_resources(qp)) return;
  // Writes go to coherent memory, so a fence makes them globally visible. Persistence is that of the mapped file: the
  // whole device waits for the file system here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((feth.placement & wire::Feth::kPersistent) != 0 && write_back(range.memory, range.size) != 0) {
    return nak_remote_access(core, qp, {Reason::kMemoryGone, {reth.address}});
  }
  respond_and_cache(core, qp, packet, 0);
}

}  // namespace verbs::soft::nic
