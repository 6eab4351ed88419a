#include "nic/objects/multicast.h"

#include <algorithm>
#include <cerrno>

#include "nic/objects/ports.h"
#include "nic/objects/queue_pair.h"

namespace verbs::soft::nic {

std::vector<MulticastTable::Group>::iterator MulticastTable::find(const wire::Gid& group) {
  return std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) { return known.gid == group; });
}

int MulticastTable::attach(Qp* qp, const wire::Gid& group, bool* first, Why* why) {
  *first = false;
  const auto refuse = [why](int error, const Why& reason) {
    if (why != nullptr) *why = reason;
    return error;
  };
  if (qp->type != IBV_QPT_UD) return refuse(EINVAL, {Reason::kGroupType, {static_cast<std::uint64_t>(qp->type)}});
  if (!group.is_multicast()) return refuse(EINVAL, {Reason::kNoGroup});
  auto found = find(group);
  if (found == groups_.end()) {
    if (groups_.size() >= max_groups_ || max_members_ == 0) {
      return refuse(ENOMEM, {Reason::kObjectLimit, {max_groups_}});
    }
    groups_.push_back({group, group_on_wire(group, true), {qp}});
    *first = true;
    ++qp->groups;
    return 0;
  }
  std::vector<Qp*>& members = found->members;
  if (std::find(members.begin(), members.end(), qp) != members.end()) return 0;
  if (members.size() >= max_members_) return refuse(ENOMEM, {Reason::kObjectLimit, {max_members_}});
  members.push_back(qp);
  ++qp->groups;
  return 0;
}

int MulticastTable::detach(Qp* qp, const wire::Gid& group, bool* last) {
  *last = false;
  const auto found = find(group);
  if (found == groups_.end() || std::erase(found->members, qp) == 0) return EINVAL;
  --qp->groups;
  *last = found->members.empty();
  if (*last) groups_.erase(found);
  return 0;
}

std::vector<wire::Gid> MulticastTable::groups_of(const Qp* qp) const {
  std::vector<wire::Gid> all;
  for (const Group& group : groups_) {
    if (std::find(group.members.begin(), group.members.end(), qp) != group.members.end()) all.push_back(group.gid);
  }
  return all;
}

}  // namespace verbs::soft::nic
