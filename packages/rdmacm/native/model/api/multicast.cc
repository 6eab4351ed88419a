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

int join(Id& id, const sockaddr* address, void* context, bool sends_only) {
  if (!address || !id.device() || !id.is_datagram()) return EINVAL;
  if (id.state != State::kBound && id.state != State::kAddressResolved) return EINVAL;
  if (!is_ip(address) || is_any(address)) return EINVAL;
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
  to.ah_attr.grh.hop_limit = 64;
  to.ah_attr.grh.traffic_class = id.traffic_class;
  std::ranges::copy(gid, to.ah_attr.grh.dgid.raw);
  const std::lock_guard guard(Library::get().mutex);
  event->group = &id.groups.emplace_back(Group{.gid = gid, .sends_only = sends_only});
  id.channel->push(std::move(event));
  return 0;
}

// No event of the group comes any more, and the program has none that it did not acknowledge: another thread may be
// attaching the queue pair until then.
void finish_events(Id& id, Group& group) {
  Library& library = Library::get();
  std::unique_lock lock(library.mutex);
  const EventQueue dropped = id.channel->remove(&group);
  library.wait(lock, [&] { return group.reported == 0; });
}

int remove(Id& id, std::list<Group>::iterator group) {
  ibv_gid gid;
  std::ranges::copy(group->gid, gid.raw);
  bool last = group->attached;
  {
    const std::lock_guard guard(Library::get().mutex);
    id.groups.erase(group);
    last = last && std::ranges::none_of(id.groups, [&](const Group& other) {
             return other.attached && std::ranges::equal(other.gid, gid.raw);
           });
  }
  return last && id.cm.qp ? soft()->detach_mcast(id.cm.qp, &gid, 0) : 0;
}

int leave(Id& id, const sockaddr* address) {
  if (!address || !is_ip(address)) return EINVAL;
  const Gid gid = gid_of(address);
  std::list<Group>::iterator found;
  {
    const std::lock_guard guard(Library::get().mutex);
    found = std::ranges::find_if(id.groups, [&](const Group& group) { return group.gid == gid && !group.leaving; });
    if (found == id.groups.end()) return EADDRNOTAVAIL;
    found->leaving = true;
  }
  if (id.is_sync()) acknowledge_last(id);
  int error = 0;
  soft::wait_and_finish([&] { finish_events(id, *found); }, [&] { error = remove(id, found); });
  return error;
}

int join_as(rdma_cm_id* id, sockaddr* address, void* context, bool sends_only) {
  return with_id(id, [&](Id& found) {
    const int error = join(found, address, context, sends_only);
    return error == 0 ? complete(found) : fail(error);
  });
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  return join_as(id, address, context, false);
}

int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* attr, void* context) {
  if (!attr) return fail(EINVAL);
  if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED) return fail(EOPNOTSUPP);
  constexpr std::uint32_t kNeeded = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  if ((attr->comp_mask & kNeeded) != kNeeded || attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) return fail(EINVAL);
  return join_as(id, attr->addr, context, attr->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
}

int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  return with_id(id, [&](Id& found) { return result(leave(found, address)); });
}
