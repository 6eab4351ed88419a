#include "host/adapter/port_control.h"

#include <string>

#include "host/error.h"

namespace verbs::soft::host {

int PortControl::set_link(std::uint8_t port_num, bool up) {
  return core_.control([&](nic::Nic& nic, Nanos) { return nic.ports().set_link(port_num, up); });
}

int PortControl::set_mtu(std::uint8_t port_num, ibv_mtu mtu) {
  return core_.control([&](nic::Nic& nic, Nanos) { return nic.ports().set_mtu(port_num, mtu); });
}

// Claims the address first, so that the GID table never has an address that the port does not have.
int PortControl::add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index) {
  return core_.control([&](nic::Nic& nic, Nanos) {
    PortStack& port = core_.engine.port(port_num);
    if (const int error = port.add_address(gid)) return error;
    if (const int error = nic.ports().add_gid(port_num, gid, index)) {
      port.remove_address(gid);
      return fail(error, "the GID table of port " + std::to_string(port_num) + " is full; remove a GID first");
    }
    core_.sockets_changed();
    return 0;
  });
}

int PortControl::remove_gid(std::uint8_t port_num, const wire::Gid& gid) {
  return core_.control([&](nic::Nic& nic, Nanos) {
    core_.progress.release_sockets();
    if (const int error = core_.engine.port(port_num).remove_address(gid)) return error;
    nic.ports().remove_gid(port_num, gid);
    core_.sockets_changed();
    return 0;
  });
}

int PortControl::fail_device() {
  return core_.control([](nic::Nic& nic, Nanos) {
    nic.fail();
    return 0;
  });
}

}  // namespace verbs::soft::host
