// Shared receive queues: the calls behind the slots of the context.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::soft::abi {

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr);
int get_srq_num(ibv_srq* srq, std::uint32_t* srq_num);

// XRC domains: the calls behind the slots of the context.

// The inode of a file identifies a domain within the process. Another process that opens the same file has its own
// domain, since it has its own NIC. A descriptor of -1 creates a domain without a file.
ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr);
int close_xrcd(ibv_xrcd* xrcd);

// One more handle of a target QP, by its number. The QP exists until its last handle is destroyed, and every handle
// receives its events.
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr);

}  // namespace verbs::soft::abi
