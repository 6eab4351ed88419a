// rdma_getaddrinfo() and rdma_resolve_addrinfo(): names by the system's resolver.
#include <infiniband/ib.h>
#include <netdb.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

#include "model/device/address.h"
#include "model/id/library.h"
#include "model/library/functions.h"

namespace verbs::rdmacm::model {
namespace {

sockaddr* copy_address(const sockaddr* address, socklen_t size) {
  auto* copy = static_cast<sockaddr*>(std::calloc(1, std::max<std::size_t>(size, sizeof(sockaddr_storage))));
  if (copy && size > 0) std::memcpy(copy, address, size);
  return copy;
}

// The type and port space that belong together when the program gives one of them.
void complete_types(rdma_addrinfo& info) {
  if (info.ai_port_space == 0) info.ai_port_space = info.ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
  if (info.ai_qp_type == 0) info.ai_qp_type = info.ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

// A name of no family of IP: only the source address of the hints.
int look_up(const char* node, const char* service, const rdma_addrinfo& hints, addrinfo** found) {
  addrinfo wanted{};
  wanted.ai_family = hints.ai_family == AF_IB ? AF_UNSPEC : hints.ai_family;
  wanted.ai_socktype = hints.ai_port_space == RDMA_PS_UDP || hints.ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;
  if ((hints.ai_flags & RAI_PASSIVE) != 0) wanted.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) wanted.ai_flags |= AI_NUMERICHOST;
  return getaddrinfo(node, service, &wanted, found);
}

int get(const char* node, const char* service, const rdma_addrinfo& hints, Addrinfo* result) {
  Addrinfo info(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
  if (!info) return fail(ENOMEM);
  info->ai_flags = hints.ai_flags;
  info->ai_qp_type = hints.ai_qp_type;
  info->ai_port_space = hints.ai_port_space;
  complete_types(*info);
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  if (node || service) {
    addrinfo* found = nullptr;
    // As the real one: an error of the resolver is the result.
    if (const int error = look_up(node, service, hints, &found)) {
      if (error != EAI_SYSTEM) errno = error == EAI_MEMORY ? ENOMEM : ENOENT;
      return error;
    }
    info->ai_family = found->ai_family;
    (passive ? info->ai_src_len : info->ai_dst_len) = found->ai_addrlen;
    (passive ? info->ai_src_addr : info->ai_dst_addr) = copy_address(found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (!(passive ? info->ai_src_addr : info->ai_dst_addr)) return fail(ENOMEM);
  }
  if (!info->ai_src_addr && hints.ai_src_len > 0 && hints.ai_src_addr) {
    info->ai_src_len = hints.ai_src_len;
    info->ai_src_addr = copy_address(hints.ai_src_addr, hints.ai_src_len);
  }
  if (!info->ai_dst_addr && hints.ai_dst_len > 0 && hints.ai_dst_addr) {
    info->ai_dst_len = hints.ai_dst_len;
    info->ai_dst_addr = copy_address(hints.ai_dst_addr, hints.ai_dst_len);
  }
  if (info->ai_family == 0) info->ai_family = hints.ai_family;
  const sockaddr* known = info->ai_src_addr ? info->ai_src_addr : info->ai_dst_addr;
  if (info->ai_family == 0 && known) info->ai_family = known->sa_family;
  *result = std::move(info);
  return 0;
}

constexpr int kBySubnetAdministrator = 0x10;  // RAI_SA, since release 60

// The lookup is done when the call returns, as in the real library: only its outcome is an event.
int resolve(Id& id, const char* node, const char* service, const rdma_addrinfo& hints) {
  // RoCE has no subnet administrator.
  if ((hints.ai_flags & kBySubnetAdministrator) != 0) return fail(EOPNOTSUPP);
  std::unique_ptr<Event> event = make_event(id);
  Addrinfo info;
  const int error = get(node, service, hints, &info);
  if (error != 0 && errno == ENOMEM) return error;
  if (error == 0) id.resolved = std::move(info);
  push_event(std::move(event), error == 0 ? kAddrinfoResolved : kAddrinfoError, error == 0 ? 0 : -errno);
  return complete(id);
}

}  // namespace
}  // namespace verbs::rdmacm::model

using namespace verbs::rdmacm::model;

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** result) {
  return guarded([&] {
    if (!result || (!node && !service && !hints)) return fail(EINVAL);
    static constexpr rdma_addrinfo kNone{};
    Addrinfo info;
    if (const int error = get(node, service, hints ? *hints : kNone, &info)) return error;
    *result = info.release();
    return 0;
  });
}

int rdma_resolve_addrinfo(rdma_cm_id* id, const char* node, const char* service, const rdma_addrinfo* hints) {
  return with_id(id, [&](Id& found) {
    if (!node && !service && !hints) return fail(EINVAL);
    static constexpr rdma_addrinfo kNone{};
    return resolve(found, node, service, hints ? *hints : kNone);
  });
}

int rdma_query_addrinfo(rdma_cm_id* id, rdma_addrinfo** info) {
  return with_id(id, [&](Id& found) {
    if (!info) return fail(EINVAL);
    if (!found.resolved) return fail(ENOENT);
    *info = found.resolved.release();
    return 0;
  });
}

void rdma_freeaddrinfo(rdma_addrinfo* info) {
  while (info) {
    rdma_addrinfo* next = info->ai_next;
    std::free(info->ai_connect);
    std::free(info->ai_route);
    std::free(info->ai_src_canonname);
    std::free(info->ai_dst_canonname);
    std::free(info->ai_src_addr);
    std::free(info->ai_dst_addr);
    std::free(info);
    info = next;
  }
}

// rdma_event_str().

const char* rdma_event_str(rdma_cm_event_type event) {
  static constexpr const char* kNames[] = {
      "RDMA_CM_EVENT_ADDR_RESOLVED",  "RDMA_CM_EVENT_ADDR_ERROR",        "RDMA_CM_EVENT_ROUTE_RESOLVED",
      "RDMA_CM_EVENT_ROUTE_ERROR",    "RDMA_CM_EVENT_CONNECT_REQUEST",   "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",  "RDMA_CM_EVENT_UNREACHABLE",       "RDMA_CM_EVENT_REJECTED",
      "RDMA_CM_EVENT_ESTABLISHED",    "RDMA_CM_EVENT_DISCONNECTED",      "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR",   "RDMA_CM_EVENT_ADDR_CHANGE",
      "RDMA_CM_EVENT_TIMEWAIT_EXIT",  "RDMA_CM_EVENT_ADDRINFO_RESOLVED", "RDMA_CM_EVENT_ADDRINFO_ERROR"};
  return static_cast<unsigned>(event) < std::size(kNames) ? kNames[event] : "UNKNOWN EVENT";
}
