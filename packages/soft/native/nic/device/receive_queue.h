// Receive requests as the responder sees them. A message takes one when it begins and completes it when it ends;
// meanwhile qp.recv holds it, so nothing else needs to know whether it came from the QP's own queue or a shared one.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

// The request that take_recv() would take; nullptr when none is posted.
const RecvWqe* next_recv(Qp& qp);
// False when none is posted. May raise the limit event of a shared queue.
bool take_recv(Core& core, Qp& qp);

}  // namespace verbs::soft::nic
