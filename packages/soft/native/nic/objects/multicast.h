// Multicast groups: which UD queue pairs get a copy of each datagram to a group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic/base/limits.h"
#include "nic/base/reasons.h"
#include "wire/gid.h"

namespace verbs::soft::nic {

class Qp;

// Datagrams to a group go to this queue pair number.
inline constexpr std::uint32_t kMulticastQpn = 0xffffff;

class MulticastTable {
 public:
  explicit MulticastTable(const Limits& limits)
      : max_groups_(static_cast<std::size_t>(limits.max_mcast_grp)),
        max_members_(static_cast<std::size_t>(limits.max_mcast_qp_attach)) {}

  // Attaching again changes nothing. 0, EINVAL (not a UD queue pair, not a group) or ENOMEM (a limit), with the reason
  // in *why. `first`: the group is new, and the links have to join it.
  int attach(Qp* qp, const wire::Gid& group, bool* first, Why* why = nullptr);
  // 0, or EINVAL if it is not attached. `last`: it was the last member, and the links have to leave the
  // group.
  int detach(Qp* qp, const wire::Gid& group, bool* last);
  // The groups that the queue pair is attached to.
  std::vector<wire::Gid> groups_of(const Qp* qp) const;

  // Calls visit(qp) for each member of the group that a packet names. `visit` may not attach or detach.
  template <typename Visit>
  void for_each_member(const wire::Gid& group, Visit visit) const {
    // Several groups may have one address in IPv4 packets. Who is in two of them gets one copy.
    const Group* first = nullptr;
    for (const Group& known : groups_) {
      if (!known.is_named(group)) continue;
      for (Qp* member : known.members) {
        if (first == nullptr || !is_member(first, &known, group, member)) visit(*member);
      }
      if (first == nullptr) first = &known;
    }
  }

 private:
  struct Group {
    wire::Gid gid;
    wire::Gid ipv4;  // its address in IPv4 packets
    std::vector<Qp*> members;

    bool is_named(const wire::Gid& name) const { return gid == name || ipv4 == name; }
  };

  // Of one of the groups from `first` up to `end` that packets to `group` name.
  static bool is_member(const Group* first, const Group* end, const wire::Gid& group, const Qp* qp) {
    return std::any_of(first, end, [&](const Group& known) {
      return known.is_named(group) && std::find(known.members.begin(), known.members.end(), qp) != known.members.end();
    });
  }
  std::vector<Group>::iterator find(const wire::Gid& group);

  std::size_t max_groups_;
  std::size_t max_members_;
  std::vector<Group> groups_;
};

}  // namespace verbs::soft::nic
