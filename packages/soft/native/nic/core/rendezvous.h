// What the NIC itself sends for tag matching. A message whose tag has matched may only say where its data is (RNDV):
// the NIC reads the data from there, and tells the peer when it has come (FIN). The READ and the SEND are in the send
// queue of the queue pair that the message came to, and make no completions there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nic/core/core.h"

namespace verbs::soft::nic {

// Messages of a queue pair whose data may be on its way. Others wait at their sender: the receiver is not ready.
inline constexpr std::uint32_t kMostRendezvous = 128;
// The headers of such a message: struct ibv_tmh, struct ibv_rvh.
inline constexpr std::size_t kTagHeaderSize = 16;
inline constexpr std::size_t kRendezvousHeadersSize = 32;

struct Rendezvous {
  std::uint64_t wr_id;  // of the completion
  ibv_sge to;           // where the data goes: of its length; that may be 0
  std::uint64_t address;
  std::uint32_t rkey;
  bool solicited;
  std::span<const std::uint8_t, kRendezvousHeadersSize> headers;  // of the message
};

// The queue pair has a slot in its send queue.
void start_rendezvous(Core& core, Qp& qp, const Rendezvous& rendezvous);

// The request at `position` of such a send queue is done.
void complete_rendezvous(Core& core, Qp& qp, std::uint32_t position, ibv_wc_status status);

}  // namespace verbs::soft::nic
