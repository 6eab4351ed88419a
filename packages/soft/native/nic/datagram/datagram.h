// UD: datagrams out and in. Nothing answers them, so there is no state beyond the PSN.
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"
#include "wire/frame.h"

namespace verbs::soft::nic {

// Sends all datagrams of a UD queue, at most `budget`. Returns how many requests were handled.
std::size_t run_datagrams(Core& core, Qp& qp, std::size_t budget);

// A datagram for a UD QP; `frame` is there for the network header that the application gets.
void take_datagram(Core& core, Qp& qp, const wire::FrameView& frame, const Request& request);

}  // namespace verbs::soft::nic
