// Changes to the ports of a device in operation. 0, or fail()'s errno, as nic::Nic has them.
#pragma once

#include "host/adapter/device_core.h"

namespace verbs::soft::host {

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

}  // namespace verbs::soft::host
