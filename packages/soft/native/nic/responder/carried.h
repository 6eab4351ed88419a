// A message that a link has carried from another process (link/message.h), at its responder.
#pragma once

#include <cstdint>
#include <span>

#include "link/message.h"
#include "nic/core/core.h"

namespace verbs::soft::nic {

// Executes a request whose sender and port are right, and acknowledges it if asked. False: nothing has happened but
// perhaps to the bytes that it is for, and its packet has to be executed.
bool execute_carried(Core& core, Qp& qp, const link::Message& message, std::span<const std::uint8_t> payload);

}  // namespace verbs::soft::nic
