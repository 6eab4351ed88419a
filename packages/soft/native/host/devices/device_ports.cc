// Changes to the ports of a device, open or not.
#include <cerrno>

#include "host/devices/device.h"
#include "host/error.h"

namespace verbs::soft::host {

int Device::check_port(unsigned port_num) const {
  if (port_num >= 1 && port_num <= config_.port_states.size()) return 0;
  return fail(EINVAL, "device " + config_.name + " has no port " + std::to_string(port_num) + "; its ports are 1 to " +
                          std::to_string(config_.port_states.size()));
}

int Device::check_open() const {
  if (adapter_) return 0;
  return fail(ENOTCONN, "device " + config_.name + " is not open; open it first, or put addr= into its configuration");
}

// Calls `change` for the port, or for all of them.
template <typename Change>
int Device::change_ports(unsigned port_num, Change&& change) {
  const unsigned first = port_num == 0 ? 1 : port_num;
  const unsigned last = port_num == 0 ? static_cast<unsigned>(config_.ports) : port_num;
  int error = check_port(first);
  for (unsigned port = first; error == 0 && port <= last; ++port) {
    error = change(static_cast<std::uint8_t>(port), &config_.port_states[port - 1]);
  }
  return error;
}

int Device::set_link(unsigned port_num, bool up) {
  return change_ports(port_num, [&](std::uint8_t port, PortState* state) {
    state->up = up;
    return adapter_ ? adapter_->port_control.set_link(port, up) : 0;
  });
}

int Device::set_mtu(unsigned port_num, ibv_mtu mtu) {
  return change_ports(port_num, [&](std::uint8_t port, PortState* state) {
    state->mtu = mtu;
    return adapter_ ? adapter_->port_control.set_mtu(port, mtu) : 0;
  });
}

int Device::add_gid(unsigned port_num, const wire::Gid& gid, std::uint32_t* index) {
  if (const int error = check_port(port_num)) return error;
  if (const int error = check_open()) return error;
  return adapter_->port_control.add_gid(static_cast<std::uint8_t>(port_num), gid, index);
}

int Device::remove_gid(unsigned port_num, const wire::Gid& gid) {
  if (const int error = check_port(port_num)) return error;
  if (const int error = check_open()) return error;
  return adapter_->port_control.remove_gid(static_cast<std::uint8_t>(port_num), gid);
}

int Device::fail_open() {
  if (const int error = check_open()) return error;
  return adapter_->port_control.fail_device();
}

}  // namespace verbs::soft::host
