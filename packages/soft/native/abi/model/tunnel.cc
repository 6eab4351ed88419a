#include "abi/model/tunnel.h"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "abi/objects/objects.h"
#include "host/error.h"

// The handle of an open tunnel that a model has.
struct verbs_soft_tunnel {
  std::shared_ptr<verbs::soft::wire::Tunnel> tunnel;
  std::uint8_t port_num;
};

namespace verbs::soft::abi {

constexpr std::uint8_t kUdp = 17;

int open_tunnel(ibv_context* context, const verbs_soft_tunnel_attr* attr, verbs_soft_tunnel** tunnel) {
  using Type = wire::Tunnel::Type;
  if (attr->type > VERBS_SOFT_TUNNEL_UDP || attr->header_size > wire::Tunnel::kMaxHeader) {
    return host::fail(EINVAL, "a tunnel's type is PLAIN, IPV4 or UDP, and its header has at most 64 bytes");
  }
  if (attr->type == VERBS_SOFT_TUNNEL_IPV4 && attr->ip_protocol == kUdp) {
    return host::fail(EINVAL, "IP protocol 17 is UDP: use a tunnel of type UDP");
  }
  auto made = std::make_unique<verbs_soft_tunnel>();
  made->port_num = attr->port_num;
  made->tunnel = std::make_shared<wire::Tunnel>();
  wire::Tunnel& to = *made->tunnel;
  to.type = static_cast<Type>(attr->type);
  if (to.type == Type::kIpv4) to.ip_protocol = attr->ip_protocol;
  if (to.type == Type::kUdp) to.udp_port = attr->udp_port;
  if (to.type != Type::kPlain) {
    to.header_size = attr->header_size;
    std::copy_n(attr->header, attr->header_size, to.header.begin());
  }
  static constexpr std::uint8_t kNone[4] = {};
  if (!std::equal(kNone, kNone + 4, attr->source)) to.source = wire::Gid::from_ipv4(attr->source);
  if (const int error = of(context)->adapter->model_access.open_tunnel(attr->port_num, made->tunnel)) return error;
  *tunnel = made.release();
  return 0;
}

void close_tunnel(ibv_context* context, verbs_soft_tunnel* tunnel) {
  of(context)->adapter->model_access.close_tunnel(tunnel->port_num, tunnel->tunnel);
  delete tunnel;
}

int set_qp_tunnel(ibv_qp* qp, verbs_soft_tunnel_half half, const verbs_soft_tunnel* tunnel) {
  if (tunnel && qp->qp_type != IBV_QPT_RC) return EOPNOTSUPP;
  return control(qp->context, [&](nic::Nic& nic, link::Nanos) {
    nic.qps().set_tunnel(of(qp)->nic, half == VERBS_SOFT_TUNNEL_REQUESTS, tunnel ? tunnel->tunnel : nullptr);
    return 0;
  });
}

void raise_event(ibv_context* context, const ibv_async_event* event) {
  host::EventTarget* target = nullptr;
  switch (event->event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      target = &of(event->element.qp)->events;
      break;
    case IBV_EVENT_CQ_ERR:
      target = &of(event->element.cq)->events;
      break;
    default:
      break;
  }
  of(context)->async.push(*event, target);
}

}  // namespace verbs::soft::abi
