// The states of an identifier's queue pair, which the library changes with the connection's.
#pragma once

#include "model/id/id.h"

namespace verbs::rdmacm::model {

// The attributes and their mask for `attr->qp_state`. 0 or EINVAL.
int init_attr(Id& id, ibv_qp_attr* attr, int* mask);
// What rdma_init_qp_attr() gives: before there is a connection and for datagrams, those of INIT for every state, as the
// kernel does. 0 or EINVAL.
int query_attr(Id& id, ibv_qp_attr* attr, int* mask);
// To INIT; a datagram queue pair to RTS. 0 or errno.
int start(Id& id, ibv_qp* qp);
// To RTR and RTS. 0 or errno.
int connect(Id& id);
// To ERR. 0 or errno.
int stop(Id& id);

}  // namespace verbs::rdmacm::model
