// What an adapter does for its ports: their attributes and addresses, and multicast groups.
#pragma once

#include "host/adapter/device_core.h"

namespace verbs::soft::host {

// Changes to the ports of a device in operation. 0, or fail()'s errno, as nic::Nic has them.

class PortControl {
 public:
  explicit PortControl(DeviceCore& core) : core_(core) {}

  int set_link(std::uint8_t port_num, bool up);
  int set_mtu(std::uint8_t port_num, ibv_mtu mtu);
  int add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index);
  int remove_gid(std::uint8_t port_num, const wire::Gid& gid);
  // Fails the device: IBV_EVENT_DEVICE_FATAL.
  int fail_device();

 private:
  DeviceCore& core_;
};

// Multicast groups of UD queue pairs: the NIC has the members of a group, and the links of the ports receive the
// packets to the group. 0, or an errno value as the verbs return it.

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
