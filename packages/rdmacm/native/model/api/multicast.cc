// Multicast groups. RoCE has no subnet manager that a join would ask: it is done when it is asked for.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/device/soft.h"
#include "model/id/library.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

constexpr std::uint32_t kMulticastQpn = 0xffffff;

int join(Id& id, const sockaddr* address, void* context) {
  if (!address || !id.device() || !id.is_datagram()) return EINVAL;
  if (!is_ip(address)) return EINVAL;
  const Gid gid = gid_of(address);
  auto event = std::make_unique<Event>();
  event->id = &id;
  event->ibv.id = &id.cm;
  event->ibv.event = RDMA_CM_EVENT_MULTICAST_JOIN;
  rdma_ud_param& to = event->ibv.param.ud;
  to.private_data = context;
  to.qp_num = kMulticastQpn;
  to.qkey = id.qkey;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = id.cm.port_num;
  to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(id.place.gid_index);
  to.ah_attr.grh.hop_limit = 1;
  to.ah_attr.grh.traffic_class = id.traffic_class;
  std::ranges::copy(gid, to.ah_attr.grh.dgid.raw);
  const std::lock_guard guard(Library::get().mutex);
  id.groups.push_back({gid, false});
  id.channel->push(std::move(event));
  return 0;
}

int leave(Id& id, const sockaddr* address) {
  if (!address || !is_ip(address)) return EINVAL;
  const Gid gid = gid_of(address);
  bool last = false;
  {
    const std::lock_guard guard(Library::get().mutex);
    const auto found = std::ranges::find_if(id.groups, [&](const Group& group) { return group.gid == gid; });
    if (found == id.groups.end()) return EADDRNOTAVAIL;
    last = found->attached;
    id.groups.erase(found);
    last =
        last && std::ranges::none_of(id.groups, [&](const Group& group) { return group.gid == gid && group.attached; });
  }
  ibv_gid group;
  std::ranges::copy(gid, group.raw);
  return last && id.cm.qp ? soft()->detach_mcast(id.cm.qp, &group, 0) : 0;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  return with_id(id, [&](Id& found) {
    const int error = join(found, address, context);
    return error == 0 ? complete(found) : fail(error);
  });
}

int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* attr, void* context) {
  if (!attr) return fail(EINVAL);
  if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED) return fail(EOPNOTSUPP);
  constexpr std::uint32_t kNeeded = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  if ((attr->comp_mask & kNeeded) != kNeeded || attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) return fail(EINVAL);
  return rdma_join_multicast(id, attr->addr, context);
}

int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  return with_id(id, [&](Id& found) { return result(leave(found, address)); });
}
