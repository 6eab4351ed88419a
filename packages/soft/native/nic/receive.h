// Receive requests as the responder sees them. A message takes one when it begins and completes it when it ends;
// meanwhile qp.recv holds it, so nothing else needs to know which queue it came from.
#pragma once

#include "core.h"

namespace verbs::soft::nic {

// The request that take_recv() would take; nullptr when none is posted.
const RecvWqe* next_recv(Qp& qp);
// False when none is posted.
bool take_recv(Qp& qp);

}  // namespace verbs::soft::nic
