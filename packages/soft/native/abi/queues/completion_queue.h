// Creating completion queues: ibv_create_cq and the create_cq_ex slot.
#pragma once

#include <infiniband/verbs.h>

#include "abi/objects/objects.h"

namespace verbs::soft::abi {

// nullptr and errno as ibv_create_cq.
Cq* create_cq(ibv_context* context, const ibv_cq_init_attr_ex& attr, const nic::CqOptions& options);

// EOPNOTSUPP for wc_flags that the device does not have (VLAN and flow tag without raw packets) and for
// unknown flags.
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr);

// Moderation of events; other bits of attr_mask are EINVAL.
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr);

}  // namespace verbs::soft::abi
