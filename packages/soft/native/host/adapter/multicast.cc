#include "host/adapter/multicast.h"

#include <mutex>

#include "verbs_soft_boundary.h"

namespace verbs::soft::host {

int Multicast::attach(nic::Qp* qp, const wire::Gid& group) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  bool first = false;
  if (const int error = core_.nic().multicast().attach(qp, group, &first)) return error;
  if (!first) return 0;
  const int error = contain([&] { return join(group); }, [](int failed) { return failed; });
  if (error != 0) leave(qp, group);
  return error;
}

int Multicast::detach(nic::Qp* qp, const wire::Gid& group) {
  if (const int error = core_.reject_inherited()) return error;
  const std::lock_guard guard(core_.lock);
  return leave(qp, group);
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
