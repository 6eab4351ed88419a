// Multicast of an adapter: the NIC knows the members of a group, the ports' links bring what is sent to it.
#include "nic/ports/multicast.h"

#include <cerrno>

#include "host/adapter/adapter.h"
#include "host/error.h"

namespace verbs::soft::host {

int Adapter::attach_mcast(nic::Qp* qp, const wire::Gid& group) {
  if (const int error = refuse_inherited()) return error;
  const std::lock_guard guard(lock_);
  bool first = false;
  if (const int error = nic_->attach_mcast(qp, group, &first)) return error;
  if (!first) return 0;
  if (const int error = join(group)) {
    nic_->detach_mcast(qp, group, &first);
    return error;
  }
  return 0;
}

int Adapter::detach_mcast(nic::Qp* qp, const wire::Gid& group) {
  if (const int error = refuse_inherited()) return error;
  const std::lock_guard guard(lock_);
  return leave(qp, group);
}

void Adapter::detach_all(nic::Qp* qp) {
  if (inherited()) return;
  const std::lock_guard guard(lock_);
  for (const wire::Gid& group : nic_->groups_of(qp)) leave(qp, group);
}

int Adapter::leave(nic::Qp* qp, const wire::Gid& group) {
  bool last = false;
  if (const int error = nic_->detach_mcast(qp, group, &last)) return error;
  if (!last) return 0;
  progress_.release_sockets();
  for (const auto& port : ports_) port->leave(group);
  progress_.set_sockets(sockets());
  return 0;
}

// A queue pair may be attached before it has a port: so every port joins.
int Adapter::join(const wire::Gid& group) {
  int error = 0;
  for (const auto& port : ports_) {
    error = port->join(group);
    if (error != 0) break;
  }
  if (error != 0) {
    for (const auto& port : ports_) port->leave(group);
  }
  progress_.set_sockets(sockets());
  return error;
}

}  // namespace verbs::soft::host
