// What each command of the write interface does. Each returns 0 or the errno of the call.
#pragma once

#include "kernel/call.h"

namespace verbs::uverbs {

// device.cc
int get_context(Call& call);
int query_device(Call& call);
int query_device_ex(Call& call);
int query_port(Call& call);
// memory.cc
int alloc_pd(Call& call);
int dealloc_pd(Call& call);
int create_ah(Call& call);
int destroy_ah(Call& call);
int reg_mr(Call& call);
int rereg_mr(Call& call);
int dereg_mr(Call& call);
int alloc_mw(Call& call);
int dealloc_mw(Call& call);
int open_xrcd(Call& call);
int close_xrcd(Call& call);
// completion.cc
int create_comp_channel(Call& call);
int create_cq_legacy(Call& call);
int create_cq_ex(Call& call);
int resize_cq(Call& call);
int modify_cq(Call& call);
int req_notify_cq(Call& call);
int destroy_cq(Call& call);
// queue_pair.cc
int create_qp_legacy(Call& call);
int create_qp_ex(Call& call);
int query_qp(Call& call);
int modify_qp(Call& call);
int modify_qp_ex(Call& call);
int destroy_qp(Call& call);
int post_send(Call& call);
int attach_mcast(Call& call);
int create_flow(Call& call);
int destroy_flow(Call& call);
// receive.cc
int create_srq(Call& call);
int create_xsrq(Call& call);
int modify_srq(Call& call);
int query_srq(Call& call);
int destroy_srq(Call& call);
int create_wq(Call& call);
int modify_wq(Call& call);
int destroy_wq(Call& call);
int create_indirection_table(Call& call);
int destroy_indirection_table(Call& call);

}  // namespace verbs::uverbs
