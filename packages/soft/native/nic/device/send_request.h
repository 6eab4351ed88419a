// What the senders of all transports need of a posted send request.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// The error that a request fails with before its first packet, or IBV_WC_SUCCESS.
ibv_wc_status check_request(const Core& core, Qp& qp, std::uint32_t position);

// Copies `size` bytes from `offset` of the request's data on. False when its memory is gone.
bool load_payload(const Core& core, Qp& qp, std::uint32_t position, std::size_t offset, std::uint8_t* to,
                  std::size_t size);

// Ends the draining of a send queue (SQD) once every request that started is acknowledged, with the SQ drained event if
// the application asked for it (IBTA 10.3.1.5).
void check_drained(Core& core, Qp& qp);

}  // namespace verbs::soft::nic
