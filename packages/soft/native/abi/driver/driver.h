// What libibverbs offers to its own drivers, as far as it is of use here too. rdma-core keeps the declarations private.
#pragma once

#include <infiniband/verbs.h>

extern "C" {

// Fills in a new CQ's public part: the channel counts one more user.
void verbs_init_cq(ibv_cq* cq, ibv_context* context, ibv_comp_channel* channel, void* cq_context);
}
