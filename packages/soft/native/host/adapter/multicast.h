// Multicast groups of UD queue pairs: the NIC has the members of a group, and the links of the ports receive the
// packets to the group. 0, or an errno value as the verbs return it.
#pragma once

#include "host/adapter/device_core.h"

namespace verbs::soft::host {

class Multicast {
 public:
  explicit Multicast(DeviceCore& core) : core_(core) {}

  int attach(nic::Qp* qp, const wire::Gid& group);
  int detach(nic::Qp* qp, const wire::Gid& group);
  // Before the queue pair is destroyed.
  void detach_all(nic::Qp* qp);

 private:
  int join(const wire::Gid& group);
  int leave(nic::Qp* qp, const wire::Gid& group);

  DeviceCore& core_;
};

}  // namespace verbs::soft::host
