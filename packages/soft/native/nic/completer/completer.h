// The completer: takes acknowledgements, read responses and timeouts, completes send requests and decides on retries.
#pragma once

#include <span>

#include "nic/device/core.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::nic {

// An acknowledgement or a response for an RC QP. `transport` is BTH to the end of the payload, without pad and ICRC.
void take_response(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                   std::span<const std::uint8_t> transport, Nanos now);

// The QP's timer fired: the ACK timeout, or the end of an RNR wait.
void take_timeout(Core& core, Qp& qp, Nanos now);

// The wait that an RNR NAK's timer code stands for (IBTA table 45).
Nanos rnr_wait(std::uint8_t code);

}  // namespace verbs::soft::nic
