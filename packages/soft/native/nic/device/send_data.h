// What all transports do with a posted send request.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// What stops a request before its first packet; IBV_WC_SUCCESS for nothing.
ibv_wc_status check_request(const Core& core, Qp& qp, std::uint32_t position);

// Copies `size` bytes from `offset` of the request's data on. False when its memory is gone.
bool load_payload(const Core& core, Qp& qp, std::uint32_t position, std::size_t offset, std::uint8_t* to,
                  std::size_t size);

// All that was started is acknowledged: tells who waits for it (IBTA 10.3.1.5, SQ drained).
void check_drained(Core& core, Qp& qp);

}  // namespace verbs::soft::nic
