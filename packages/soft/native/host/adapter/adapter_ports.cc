// What happens to the ports of a device in operation.
#include <cerrno>

#include "host/adapter/adapter.h"
#include "host/configuration/address.h"
#include "host/error.h"

namespace verbs::soft::host {

int Adapter::set_link(std::uint8_t port_num, bool up) {
  return control([&](nic::Nic& nic, Nanos) { return nic.set_link(port_num, up); });
}

int Adapter::set_mtu(std::uint8_t port_num, ibv_mtu mtu) {
  return control([&](nic::Nic& nic, Nanos) { return nic.set_mtu(port_num, mtu); });
}

// The address is claimed first, so that the table never shows one that is not there.
int Adapter::add_gid(std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index) {
  return control([&](nic::Nic& nic, Nanos) {
    PortStack& port = *ports_[port_num - 1u];
    if (const int error = port.add_address(gid)) return error;
    if (const int error = nic.add_gid(port_num, gid, index)) {
      port.remove_address(gid);
      return fail(error, "the GID table of port " + std::to_string(port_num) + " is full; remove a GID first");
    }
    progress_.set_sockets(sockets());
    return 0;
  });
}

int Adapter::remove_gid(std::uint8_t port_num, const wire::Gid& gid) {
  return control([&](nic::Nic& nic, Nanos) {
    progress_.release_sockets();
    if (const int error = ports_[port_num - 1u]->remove_address(gid)) return error;
    nic.remove_gid(port_num, gid);
    progress_.set_sockets(sockets());
    return 0;
  });
}

int Adapter::fail_device() {
  return control([](nic::Nic& nic, Nanos) {
    nic.fail();
    return 0;
  });
}

std::vector<link::RuleCounters> Adapter::count_rules() {
  const std::lock_guard guard(lock_);
  std::vector<link::RuleCounters> sums;
  for (const auto& port : ports_) port->count_rules(&sums);
  if (raw_) raw_->count_rules(&sums);
  return sums;
}

}  // namespace verbs::soft::host
