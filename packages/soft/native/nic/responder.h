// The responder: executes request packets of an RC QP and answers them; takes datagrams of a UD QP.
#pragma once

#include <span>

#include "../wire/headers.h"
#include "../wire/opcode.h"
#include "core.h"

namespace verbs::soft::nic {

// A request for an RC QP. `transport` is BTH to the end of the payload, without pad and ICRC.
void take_request(Core& core, Qp& qp, const wire::Bth& bth, const wire::OpcodeInfo& info,
                  std::span<const std::uint8_t> transport);

// A datagram for a UD QP.
void take_datagram(Core& core, Qp& qp, const wire::FrameView& frame, const wire::Bth& bth, const wire::OpcodeInfo& info,
                   std::span<const std::uint8_t> transport);

// Sends what the responder owes: acknowledgements and read responses, at most `budget` packets. Returns how many.
std::size_t run_responder(Core& core, Qp& qp, std::size_t budget);

}  // namespace verbs::soft::nic
