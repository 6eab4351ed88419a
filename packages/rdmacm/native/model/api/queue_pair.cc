// Queue pairs and shared receive queues of identifiers.
#include "model/id/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/device/soft.h"
#include "model/id/library.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

void destroy_queue(ibv_cq*& cq, ibv_comp_channel*& channel) {
  if (cq) soft()->destroy_cq(cq);
  if (channel) soft()->destroy_comp_channel(channel);
  cq = nullptr;
  channel = nullptr;
}

// For a queue pair that is created without completion queues.
int create_queue(Id& id, std::uint32_t size, ibv_cq*& cq, ibv_comp_channel*& channel) {
  if (cq) return 0;
  channel = soft()->create_comp_channel(id.cm.verbs);
  if (!channel) return errno;
  cq = soft()->create_cq(id.cm.verbs, static_cast<int>(std::max(size, 1u)), &id.cm, channel, 0);
  if (cq) return 0;
  const int error = errno;
  destroy_queue(cq, channel);
  return error;
}

void destroy_queues(Id& id) {
  if (id.cm.qp_type == IBV_QPT_XRC_RECV && id.cm.srq) return;  // it receives into one of them
  destroy_queue(id.cm.recv_cq, id.cm.recv_cq_channel);
  destroy_queue(id.cm.send_cq, id.cm.send_cq_channel);
}

int create_queues(Id& id, ibv_cq** send_cq, ibv_cq** recv_cq, const ibv_qp_cap& cap) {
  if (!*recv_cq) {
    if (const int error = create_queue(id, cap.max_recv_wr, id.cm.recv_cq, id.cm.recv_cq_channel)) return error;
    *recv_cq = id.cm.recv_cq;
  }
  if (!*send_cq) {
    if (const int error = create_queue(id, cap.max_send_wr, id.cm.send_cq, id.cm.send_cq_channel)) return error;
    *send_cq = id.cm.send_cq;
  }
  return 0;
}

int check(const Id& id, const ibv_pd* pd) {
  if (!id.cm.verbs || id.cm.qp) return EINVAL;
  return pd->context == id.cm.verbs ? 0 : EINVAL;
}

// Makes the queue pair by `make` and starts it.
template <typename Make>
int create(Id& id, ibv_pd* pd, ibv_cq** send_cq, ibv_cq** recv_cq, const ibv_qp_cap& cap, Make&& make) {
  if (const int error = check(id, pd)) return error;
  int error = create_queues(id, send_cq, recv_cq, cap);
  ibv_qp* qp = nullptr;
  if (error == 0) {
    qp = make();
    if (!qp) error = errno;
  }
  if (error == 0) error = start(id, qp);
  if (error == 0) {
    id.cm.qp = qp;
    id.cm.pd = pd;
    return 0;
  }
  if (qp) soft()->destroy_qp(qp);
  if (*send_cq == id.cm.send_cq) *send_cq = nullptr;
  if (*recv_cq == id.cm.recv_cq) *recv_cq = nullptr;
  destroy_queues(id);
  return error;
}

// The XRC domain and, of an SRQ, the completion queue that the program does not give.
int fill_in_domain(Id& id, ibv_qp_init_attr_ex* attr) {
  if (attr->qp_type != IBV_QPT_XRC_RECV) return 0;
  attr->srq = nullptr;  // a request names its SRQ
  if ((attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0 && attr->xrcd) return 0;
  attr->xrcd = xrcd_of(*id.device());
  if (!attr->xrcd) return errno;
  attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
  return 0;
}

int fill_in_domain(Id& id, ibv_srq_init_attr_ex* attr) {
  if (attr->srq_type != IBV_SRQT_XRC) return 0;
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) == 0 || !attr->xrcd) {
    attr->xrcd = xrcd_of(*id.device());
    if (!attr->xrcd) return errno;
    attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
  }
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) == 0 || !attr->cq) {
    if (const int error = create_queue(id, attr->attr.max_wr, id.cm.recv_cq, id.cm.recv_cq_channel)) return error;
    attr->cq = id.cm.recv_cq;
    attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
  }
  return 0;
}

int create(Id& id, ibv_qp_init_attr_ex* attr) {
  if (!attr || !id.cm.verbs) return EINVAL;
  if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || !attr->pd) {
    attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
    attr->pd = id.cm.pd;
  }
  if (!attr->pd) return EINVAL;
  if (!attr->srq) attr->srq = id.cm.srq;
  if (const int error = fill_in_domain(id, attr)) return error;
  return create(id, attr->pd, &attr->send_cq, &attr->recv_cq, attr->cap, [&]() -> ibv_qp* {
    if (attr->comp_mask == IBV_QP_INIT_ATTR_PD) {
      return soft()->create_qp(attr->pd, reinterpret_cast<ibv_qp_init_attr*>(attr));
    }
    verbs_context* context = verbs_get_ctx_op(id.cm.verbs, create_qp_ex);
    if (context) return context->create_qp_ex(id.cm.verbs, attr);
    errno = EOPNOTSUPP;
    return nullptr;
  });
}

int create(Id& id, ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (!attr) return EINVAL;
  ibv_qp_init_attr_ex extended{};
  std::memcpy(&extended, attr, sizeof *attr);  // the beginning of both is the same
  extended.comp_mask = IBV_QP_INIT_ATTR_PD;
  extended.pd = pd ? pd : id.cm.pd;
  const int error = create(id, &extended);
  std::memcpy(attr, &extended, sizeof *attr);
  return error;
}

int create_srq(Id& id, ibv_srq_init_attr_ex* attr) {
  if (!attr || !id.cm.verbs || id.cm.srq) return EINVAL;
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0) return EINVAL;
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || !attr->pd) {
    attr->pd = id.cm.pd;
    attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
  }
  if (attr->pd->context != id.cm.verbs) return EINVAL;
  if (const int error = fill_in_domain(id, attr)) return error;
  verbs_context* context = verbs_get_ctx_op(id.cm.verbs, create_srq_ex);
  if (!context) return EOPNOTSUPP;
  ibv_srq* srq = context->create_srq_ex(id.cm.verbs, attr);
  if (!srq) {
    const int error = errno;
    if (!id.cm.qp) destroy_queues(id);
    return error;
  }
  id.cm.srq = srq;
  id.cm.pd = attr->pd;
  return 0;
}

int create_srq(Id& id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  if (!attr) return EINVAL;
  ibv_srq_init_attr_ex extended{};
  std::memcpy(&extended, attr, sizeof *attr);  // the beginning of both is the same
  extended.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  extended.pd = pd;
  extended.srq_type = id.cm.qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
  const int error = create_srq(id, &extended);
  std::memcpy(attr, &extended, sizeof *attr);
  return error;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr) {
  return with_id(id, [&](Id& found) { return result(create(found, pd, attr)); });
}

int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attr) {
  return with_id(id, [&](Id& found) { return result(create(found, attr)); });
}

void rdma_destroy_qp(rdma_cm_id* id) {
  with_id(id, [](Id& found) {
    if (!found.cm.qp) return 0;
    for (Group& group : found.groups) {
      ibv_gid gid;
      std::copy(group.gid.begin(), group.gid.end(), gid.raw);
      if (group.attached) soft()->detach_mcast(found.cm.qp, &gid, 0);
      group.attached = false;
    }
    soft()->destroy_qp(found.cm.qp);
    found.cm.qp = nullptr;
    destroy_queues(found);
    return 0;
  });
}

int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  return with_id(id, [&](Id& found) { return result(create_srq(found, pd, attr)); });
}

int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  return with_id(id, [&](Id& found) { return result(create_srq(found, attr)); });
}

void rdma_destroy_srq(rdma_cm_id* id) {
  with_id(id, [](Id& found) {
    if (found.cm.srq) soft()->destroy_srq(found.cm.srq);
    found.cm.srq = nullptr;
    if (!found.cm.qp) destroy_queues(found);
    return 0;
  });
}

int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attr, int* mask) {
  return with_id(id, [&](Id& found) { return attr && mask ? result(query_attr(found, attr, mask)) : fail(EINVAL); });
}
