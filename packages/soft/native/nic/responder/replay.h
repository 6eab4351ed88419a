// Requests that must not be executed twice, whatever is lost: atomics, ATOMIC WRITE and FLUSH. Their results are saved,
// and a repeated request is answered with what was saved (IBTA 9.4.5).
#pragma once

#include "nic/device/core.h"
#include "nic/ingress/request.h"

namespace verbs::soft::nic {

// The QP allows such requests, with `rights` of ibv_qp_attr.qp_access_flags.
bool allows_once(const Qp& qp, unsigned rights);

// As many are queued as the requester may have outstanding: the request is not taken, it will come again.
bool is_busy(const Qp& qp);

// The request at the expected PSN was executed: saves the result and answers.
void answer_once(Core& core, Qp& qp, const Request& request, std::uint64_t original);

// A request that was executed before, or one that is too old to be known.
void repeat_once(Core& core, Qp& qp, const Request& request);

}  // namespace verbs::soft::nic
