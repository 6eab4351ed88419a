// A function that libibverbs offers to its drivers and that is used here, too. rdma-core keeps the declaration private.
#pragma once

#include <infiniband/verbs.h>

extern "C" {

// Fills in the ibv_cq of a new CQ and counts it as a user of the channel.
void verbs_init_cq(ibv_cq* cq, ibv_context* context, ibv_comp_channel* channel, void* cq_context);
}
