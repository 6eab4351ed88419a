// Calls of the extension table: tunnels and asynchronous events.
#pragma once

#include "verbs_soft_extension.h"

namespace verbs::soft::abi {

int open_tunnel(ibv_context* context, const verbs_soft_tunnel_attr* attr, verbs_soft_tunnel** tunnel);
void close_tunnel(ibv_context* context, verbs_soft_tunnel* tunnel);
int set_qp_tunnel(ibv_qp* qp, verbs_soft_tunnel_half half, const verbs_soft_tunnel* tunnel);
void raise_event(ibv_context* context, const ibv_async_event* event);

}  // namespace verbs::soft::abi
