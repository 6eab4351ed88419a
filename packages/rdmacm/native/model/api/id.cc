// Identifiers.
#include <cerrno>
#include <new>

#include "model/library/functions.h"

extern "C" {

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps) {
  auto* created = new (std::nothrow) rdma_cm_id{};
  if (!created) {
    errno = ENOMEM;
    return -1;
  }
  created->channel = channel;
  created->context = context;
  created->ps = ps;
  created->qp_type = ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
  *id = created;
  return 0;
}

int rdma_destroy_id(rdma_cm_id* id) {
  delete id;
  return 0;
}

}  // extern "C"
