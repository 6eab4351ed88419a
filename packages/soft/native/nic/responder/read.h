// READ requests that come in. Their responses go out as answers, piece by piece (response.h).
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"

namespace verbs::soft::nic {

// The longest RDMA message.
inline constexpr std::uint32_t kMaxRdmaLength = 1u << 31;

// The request at the expected PSN.
void take_read(Core& core, Qp& qp, const Request& request);

// The same or a part of one that was taken before.
void repeat_read(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
