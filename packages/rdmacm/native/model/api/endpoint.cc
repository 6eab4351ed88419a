// Endpoints: a synchronous identifier with a queue pair, from the result of rdma_getaddrinfo().
#include <cerrno>

#include "model/id/library.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

constexpr int kResolveTimeout = 2000;  // ms

// 0 or -1 and errno.
int prepare(Id& id, const rdma_addrinfo& info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  id.cm.qp_type = static_cast<ibv_qp_type>(info.ai_qp_type);
  if ((info.ai_flags & RAI_PASSIVE) != 0) {
    if (rdma_bind_addr(&id.cm, info.ai_src_addr) != 0) return -1;
    if (!attr) return 0;
    id.qp_attr = std::make_unique<ibv_qp_init_attr>(*attr);
    id.qp_attr->qp_type = id.cm.qp_type;
    id.qp_pd = pd;
    return 0;
  }
  if (rdma_resolve_addr(&id.cm, info.ai_src_addr, info.ai_dst_addr, kResolveTimeout) != 0) return -1;
  if (rdma_resolve_route(&id.cm, kResolveTimeout) != 0) return -1;
  if (!attr) return 0;
  attr->qp_type = id.cm.qp_type;
  return rdma_create_qp(&id.cm, pd, attr);
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* info, ibv_pd* pd, ibv_qp_init_attr* attr) {
  return guarded([&] {
    if (!id || !info) return fail(EINVAL);
    rdma_cm_id* created = nullptr;
    if (rdma_create_id(nullptr, &created, nullptr, static_cast<rdma_port_space>(info->ai_port_space)) != 0) return -1;
    int prepared = -1;
    const auto finish = [&] {
      const int error = errno;
      if (prepared != 0) rdma_destroy_ep(created);
      errno = error;
    };
    const auto wait = [&] { prepared = guarded([&] { return prepare(*of(created), *info, pd, attr); }); };
    verbs::soft::wait_and_finish(wait, finish);
    if (prepared == 0) *id = created;
    return prepared;
  });
}

void rdma_destroy_ep(rdma_cm_id* id) {
  guarded([&] {
    if (!find(id)) return;
    rdma_destroy_qp(id);
    rdma_destroy_srq(id);
    rdma_destroy_id(id);
  });
}
