// The calls of XRC domains, which programs reach through the context.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

// A file's inode names a domain within the process: another process that opens the same file has a domain of its own,
// as it has a NIC of its own. A descriptor of -1 makes a domain without a name.
ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr);
int close_xrcd(ibv_xrcd* xrcd);

// One more handle of a target QP, by its number. The QP lives until the last one is destroyed, and every one gets its
// events.
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr);

}  // namespace verbs::soft::abi
