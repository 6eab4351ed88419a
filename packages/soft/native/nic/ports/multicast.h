// Multicast groups: which UD queue pairs get a copy of what is sent to a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic/ingress/request.h"
#include "nic/shared/limits.h"
#include "wire/frame.h"
#include "wire/gid.h"

namespace verbs::soft::nic {

struct Core;
class Qp;

// Datagrams to a group go to this queue pair number.
inline constexpr std::uint32_t kMulticastQpn = 0xffffff;

// The group as packets between addresses of the sort name it: a group of IPv6 form has the low 24 bits of its GID under
// 239.0.0.0/8 in IPv4 packets, so that groups of either form serve ports of either sort. Not the reverse: then `group`
// itself.
wire::Gid group_on_wire(const wire::Gid& group, bool ipv4);

class MulticastTable {
 public:
  explicit MulticastTable(const Limits& limits)
      : max_groups_(static_cast<std::size_t>(limits.max_mcast_grp)),
        max_members_(static_cast<std::size_t>(limits.max_mcast_qp_attach)) {}

  // Attaching twice is attaching once. 0, EINVAL (not a UD queue pair, not a group) or ENOMEM (a limit). `first` tells
  // that the group is new.
  int attach(Qp& qp, const wire::Gid& group, bool* first);
  // 0, or EINVAL if it is not attached. `last` tells that the group is gone.
  int detach(Qp& qp, const wire::Gid& group, bool* last);
  // The groups that the queue pair is attached to.
  std::vector<wire::Gid> groups_of(const Qp& qp) const;

  // A copy for each member that is on the port.
  void deliver(Core& core, std::uint8_t port_num, const wire::FrameView& frame, const Request& request) const;

 private:
  struct Group {
    wire::Gid gid;
    wire::Gid ipv4;  // its name in IPv4 packets
    std::vector<Qp*> members;
  };
  std::vector<Group>::iterator find(const wire::Gid& group);

  std::size_t max_groups_;
  std::size_t max_members_;
  std::vector<Group> groups_;
};

}  // namespace verbs::soft::nic
