// Binding and resolving: from addresses to devices.
#include <arpa/inet.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/device/neighbours.h"
#include "model/device/soft.h"
#include "model/id/library.h"
#include "model/id/ports.h"
#include "model/id/service.h"
#include "model/id/shown.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

// The identifier belongs to a device from now on.
void take_place(Id& id, const Place& place) {
  id.place = place;
  id.cm.verbs = place.device->verbs;
  id.cm.pd = place.device->pd;
  id.cm.port_num = place.port_num;
  std::memcpy(id.cm.route.addr.addr.ibaddr.sgid.raw, place.gid.data(), place.gid.size());
  id.cm.route.addr.addr.ibaddr.pkey = 0xffff;
}

int bind(Id& id, const sockaddr* address) {
  if (id.state != State::kIdle || !address) return EINVAL;
  if (!is_ip(address)) return EINVAL;
  Place place;
  if (!is_any(address) && !find_address(gid_of(address), &place)) {
    if (!is_loopback(gid_of(address))) return is_of_system(address) ? why_no_device() : EADDRNOTAVAIL;
    // Another process has this loopback address, and all of them serve the machine's. If no device is at such an
    // address, it stands for every address, as with the kernel.
    if (!find_route(address, &place) || !is_loopback(place.gid)) place = {};
    if (!place.device && why_no_device() == EADDRINUSE) return EADDRINUSE;
  }
  if (place.device && id.cm.ps == RDMA_PS_IPOIB) return EINVAL;  // it is InfiniBand's
  std::memcpy(&id.cm.route.addr.src_storage, address, size_of(address));
  if (const int error = take_port(id)) {
    id.cm.route.addr.src_storage = {};
    return error;
  }
  if (place.device) take_place(id, place);
  id.state = State::kBound;
  show(id);
  return 0;
}

// An address of the family of `like`, without address or port.
sockaddr_storage any_like(const sockaddr* like) {
  sockaddr_storage any{};
  any.ss_family = like->sa_family;
  return any;
}

// Programs name this host by the zero address.
void replace_any(sockaddr* address) {
  if (!is_any(address)) return;
  if (address->sa_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_addr = in6addr_loopback;
  }
}

// As it was before bind().
void unbind(Id& id) {
  hide(id);
  id.announcements.clear();
  free_port(id);
  id.place = {};
  id.cm.verbs = nullptr;
  id.cm.pd = nullptr;
  id.cm.port_num = 0;
  id.cm.route.addr.addr.ibaddr = {};
  id.cm.route.addr.src_storage = {};
  id.state = State::kIdle;
}

int resolve(Id& id, const sockaddr* source, const sockaddr* to) {
  if (!to || (id.state != State::kIdle && id.state != State::kBound)) return EINVAL;
  if (!is_ip(to) || (source && !is_ip(source))) return EINVAL;
  std::unique_ptr<Event> event = make_event(id);
  const sockaddr_storage any = any_like(to);
  if (id.state == State::kBound) {
    source = id.source();
  } else if (!source) {
    source = reinterpret_cast<const sockaddr*>(&any);
  }
  if (source->sa_family != to->sa_family) return EINVAL;
  if (id.state == State::kIdle) {
    if (const int error = bind(id, source)) return error;
  }
  std::memcpy(&id.cm.route.addr.dst_storage, to, size_of(to));
  replace_any(id.destination());
  Place place = id.place;
  if (!place.device && !find_route(id.destination(), &place)) {
    push_event(std::move(event), RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
    return 0;
  }
  const Gid gid = gid_of(id.destination());
  if (is_ipv4(gid) != is_ipv4(place.gid) && !is_multicast(gid)) {
    push_event(std::move(event), RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);
    return 0;
  }
  if (const int error =
          soft()->cm->reach(place.device->verbs, place.port_num, place.gid.data(), gid.data(), &id.path_mtu)) {
    push_event(std::move(event), RDMA_CM_EVENT_ADDR_ERROR, -error);
    return 0;
  }
  if (id.cm.ps == RDMA_PS_IPOIB) {
    push_event(std::move(event), RDMA_CM_EVENT_ADDR_ERROR, -EINVAL);  // it is InfiniBand's
    return 0;
  }
  if (!id.device()) {
    const std::uint16_t port = port_of(id.source());
    free_port(id);  // it is taken by its address
    to_sockaddr(place.gid, port, &id.cm.route.addr.src_storage);
    copy_scope(id.destination(), id.source());
    if (const int error = take_port(id)) return error;
    take_place(id, place);
  }
  std::memcpy(id.cm.route.addr.addr.ibaddr.dgid.raw, gid.data(), gid.size());
  id.state = State::kAddressResolved;
  show(id);
  push_event(std::move(event), RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}

int resolve_route(Id& id, int timeout) {
  if (id.state != State::kAddressResolved || timeout == 0) return EINVAL;
  std::unique_ptr<Event> event = make_event(id);
  if (const int error = set_route(id)) return error;
  id.state = State::kRouteResolved;
  show(id);
  push_event(std::move(event), RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  return with_id(id, [&](Id& found) {
    // A free port of this process may be another one's.
    for (int tries = 16;; --tries) {
      if (const int error = bind(found, address)) return fail(error);
      try {
        const int error = announce_bound(found);
        if (error == 0) return 0;
        unbind(found);
        if (port_of(address) != 0 || tries == 0) return fail(error);
      } catch (...) {
        unbind(found);
        throw;
      }
    }
  });
}

int rdma_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int) {
  return with_id(id, [&](Id& found) {
    const int error = resolve(found, source, destination);
    return error == 0 ? complete(found) : fail(error);
  });
}

int rdma_resolve_route(rdma_cm_id* id, int timeout) {
  return with_id(id, [&](Id& found) {
    const int error = resolve_route(found, timeout);
    return error == 0 ? complete(found) : fail(error);
  });
}

__be16 rdma_get_src_port(rdma_cm_id* id) {
  const Id* found = find(id);
  return found ? htons(port_of(&id->route.addr.src_addr)) : 0;
}

__be16 rdma_get_dst_port(rdma_cm_id* id) {
  const Id* found = find(id);
  return found ? htons(port_of(&id->route.addr.dst_addr)) : 0;
}
