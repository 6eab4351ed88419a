#include "nic/responder/responses.h"

#include <algorithm>

#include "nic/device/packet_builder.h"
#include "nic/device/referring.h"
#include "nic/responder/nak.h"
#include "nic/responder/remote_memory.h"
#include "nic/shared/guarded_memory.h"
#include "nic/shared/psn.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {
namespace {

void send_acknowledgement(Core& core, Qp& qp, const Response& response) {
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
      nak_lost_read(core, qp, response.psn);
      continue;
    }
    if (response.remaining == 0 && psn_before(response.last_psn, response.psn)) responses.pop();
  }
  return count;
}

}  // namespace verbs::soft::nic
