// The connection manager's events become events of identifiers.
#pragma once

#include "verbs_soft_cm.h"

namespace verbs::rdmacm::model {

// A verbs_soft_cm_callback; `owner` is the Id, or for requests the Listening. Runs under the device's lock.
void* on_cm_event(void* owner, const verbs_soft_cm_event* event);

}  // namespace verbs::rdmacm::model
