// Flows of raw packets.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attr);
int destroy_flow(ibv_flow* flow);
// Whether the calling thread may have raw packets of that device: EPERM where a strict device asks for the kernel's
// capability.
int check_privilege(ibv_context* context);

}  // namespace verbs::soft::abi
