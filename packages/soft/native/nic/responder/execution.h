// Executes the request at the expected PSN: a message's packets, READ, the atomic operations and FLUSH.
#pragma once

#include "nic/core/core.h"
#include "nic/core/packet.h"

namespace verbs::soft::nic {

// Incoming SEND and WRITE messages: each packet is written to memory, and the last one makes the completion.

// Whether the packet continues the message in progress, or begins one where none is in progress.
bool continues_message(const ResponderState& resp, const wire::OpcodeInfo& info);

// First and middle packets are exactly MTU long, a last one 1 to MTU, an only one at most MTU.
bool has_valid_length(const Qp& qp, const Packet& packet);

// The peer's first request has come.
inline void note_communication(Core& core, Qp& qp) {
  if (qp.resp.communication_established) return;
  qp.resp.communication_established = true;
  if (qp.state == IBV_QPS_RTR) core.events.async({IBV_EVENT_COMM_EST, &qp, nullptr, qp.attr.port_num});
}

// Execute the packet at the expected PSN.
void execute_send(Core& core, Qp& qp, const Packet& packet);
void execute_write(Core& core, Qp& qp, const Packet& packet);

// Executes READ requests: the response is queued, and leaves packet by packet (responses.h).

// The longest RDMA message.
inline constexpr std::uint32_t kMaxRdmaLength = 1u << 31;

// The request at the expected PSN.
void execute_read(Core& core, Qp& qp, const Packet& packet);

// A duplicate of a READ request, or of a part of one.
void execute_read_again(Core& core, Qp& qp, const Packet& packet);

// Executes atomic operations and ATOMIC WRITE: the request at the expected PSN.

void execute_atomic(Core& core, Qp& qp, const Packet& packet);
void execute_atomic_write(Core& core, Qp& qp, const Packet& packet);

// Executes FLUSH: the requester asks that its earlier writes become globally visible, or survive a power failure.

// The request at the expected PSN.
void execute_flush(Core& core, Qp& qp, const Packet& packet);

// The memory that a remote key opens to the peer of a QP.

struct RemoteMemory {
  std::uint8_t* at = nullptr;
  bool lasts = false;  // as Mr::lasts()
};

// The memory behind [address, address + size) of the region or window with that remote key; at nullptr when the key
// does not open that range to this QP in `pd` with all of `access`. The memory itself may be gone: copy by
// guarded_copy().
inline RemoteMemory remote_memory(const Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey,
                                  std::uint64_t address, std::size_t size, unsigned access) {
  if (MwTable::holds(rkey)) {
    const Mw* mw = core.mws.find(rkey, qp, pd, access);
    return mw != nullptr ? RemoteMemory{mw->at(address, size), mw->mr->lasts()} : RemoteMemory{};
  }
  const Mr* mr = core.mrs.find(rkey, pd, access);
  return mr != nullptr ? RemoteMemory{mr->at(address, size), mr->lasts()} : RemoteMemory{};
}

// The region that such a key opens, or nullptr.
inline Mr* remote_region(Core& core, const Qp& qp, const Pd* pd, std::uint32_t rkey) {
  if (!MwTable::holds(rkey)) return core.mrs.find(rkey, pd);
  const Mw* mw = core.mws.find(rkey, qp, pd, 0);
  return mw != nullptr ? mw->mr : nullptr;
}

}  // namespace verbs::soft::nic
