#include "host/adapter/ports.h"

#include <cerrno>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/error.h"
#include "verbs_soft_boundary.h"

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
    if (port.addresses().offers(gid))
      return fail(EEXIST, "the GID table of port " + std::to_string(port_num) + " has it");
    if (const int error = port.add_address(gid)) return error;
    std::vector<int> sockets;
    const auto enter = [&] {
      sockets = core_.engine.sockets();
      return nic.ports().add_gid(port_num, gid, index);
    };
    const int error = contain(enter, [](int failed) { return failed; });
    if (error != 0) port.remove_address(gid);
    if (error == ENOSPC) {
      return fail(error, "the GID table of port " + std::to_string(port_num) + " is full; remove a GID first");
    }
    if (error == 0) core_.progress.set_sockets(std::move(sockets));
    return error;
  });
}

int PortControl::remove_gid(std::uint8_t port_num, const wire::Gid& gid) {
  return core_.control([&](nic::Nic& nic, Nanos) {
    std::vector<int> sockets = core_.engine.sockets();  // room for those that stay
    core_.progress.release_sockets();
    if (const int error = core_.engine.port(port_num).remove_address(gid)) return error;
    nic.ports().remove_gid(port_num, gid);
    sockets.clear();
    core_.engine.add_sockets(&sockets);
    core_.progress.set_sockets(std::move(sockets));
    return 0;
  });
}

int PortControl::fail_device() {
  return core_.control([](nic::Nic& nic, Nanos) {
    nic.fail();
    return 0;
  });
}

int Multicast::attach(nic::Qp* qp, const wire::Gid& group) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  bool first = false;
  nic::Why why;
  if (const int error = core_.nic().multicast().attach(qp, group, &first, &why)) {
    core_.nic().explain(nic::Place::kAttachMcast, error, why, qp);
    return error;
  }
  if (!first) return 0;
  const int error = contain([&] { return join(group); }, [](int failed) { return failed; });
  if (error != 0) leave(qp, group);
  return error;
}

int Multicast::detach(nic::Qp* qp, const wire::Gid& group) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  const int error = leave(qp, group);
  if (error == EINVAL) core_.nic().explain(nic::Place::kDetachMcast, error, {nic::Reason::kNotAttached}, qp);
  return error;
}

void Multicast::detach_all(nic::Qp* qp) {
  if (core_.inherited()) return;
  const std::lock_guard guard(core_.lock);
  for (const wire::Gid& group : core_.nic().multicast().groups_of(qp)) leave(qp, group);
}

int Multicast::leave(nic::Qp* qp, const wire::Gid& group) {
  std::vector<int> sockets = core_.engine.sockets();  // room for those that stay: nothing fails once the group is left
  bool last = false;
  if (const int error = core_.nic().multicast().detach(qp, group, &last)) return error;
  if (!last) return 0;
  core_.progress.release_sockets();
  for (const auto& port : core_.engine.ports()) port->addresses().leave(group);
  sockets.clear();
  core_.engine.add_sockets(&sockets);
  core_.progress.set_sockets(std::move(sockets));
  return 0;
}

// A queue pair may be attached before it has a port: so every port joins.
int Multicast::join(const wire::Gid& group) {
  int error = 0;
  for (const auto& port : core_.engine.ports()) {
    error = port->addresses().join(group);
    if (error != 0) break;
  }
  core_.sockets_changed();
  return error;
}

}  // namespace verbs::soft::host
