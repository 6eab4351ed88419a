// What other processes see of an identifier: `rdma resource show cm_id`.
#pragma once

#include "model/id/id.h"

namespace verbs::rdmacm::model {

// Shows its present state at its device, or, of one that listens at every address, at each device. One without a device
// is not shown, as with the kernel. Not under the library's lock.
void show(const Id& id);
// The same of one whose connection has ended.
void show_disconnected(const Id& id);
void hide(const Id& id);

}  // namespace verbs::rdmacm::model
