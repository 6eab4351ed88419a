// Makes work completions out of work requests.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// Completes the oldest send request. A successful request that is not signaled makes no entry.
void complete_send(Core& core, Qp& qp, ibv_wc_status status);

// What a receive completion reports beyond its status.
struct Received {
  ibv_wc_opcode opcode = IBV_WC_RECV;
  std::uint32_t byte_len = 0;
  __be32 imm_data = 0;
  unsigned flags = 0;
  std::uint32_t src_qp = 0;
  std::uint8_t sl = 0;
  bool solicited = false;
  FrameTags tags = {};
};

// Completes the receive request of qp.recv (receive_request.h). False when the CQ is full.
bool complete_recv(Core& core, Qp& qp, ibv_wc_status status, const Received& received);

}  // namespace verbs::soft::nic
