#include "abi/model/extension.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>

#include "abi/model/connection_manager.h"
#include "abi/objects/objects.h"
#include "guard/access_guard.h"
#include "guard/fault_handler.h"
#include "host/devices/registry.h"
#include "host/error.h"
#include "host/fork_order.h"
#include "host/models/verbs_device.h"
#include "verbs_soft_extension.h"

namespace verbs::soft::abi {
namespace {

int transmit_frame(ibv_device* device, std::uint8_t port_num, const verbs_soft_frame* frame) {
  host::RawPackets* raw = host::verbs_device(device).raw;
  return raw ? raw->transmit(port_num, *frame) : EPERM;
}

int deliver_frame(ibv_qp* qp, const verbs_soft_frame* frame, const verbs_soft_delivery* delivery) {
  return of(qp->context)->adapter->model_access.deliver_frame(of(qp)->nic, *frame, *delivery);
}

int deliver_to_wq(ibv_wq* wq, const verbs_soft_frame* frame, const verbs_soft_delivery* delivery) {
  return of(wq->context)->adapter->model_access.deliver_frame(of(wq)->nic, *frame, *delivery);
}

std::uint32_t frame_limit(ibv_device* device, std::uint8_t port_num) {
  const host::RawPackets* raw = host::verbs_device(device).raw;
  return raw ? raw->frame_limit(port_num) : 0;
}

int lock_device(ibv_context* context) { return of(context)->adapter->model_access.lock(); }
void unlock_device(ibv_context* context) { of(context)->adapter->model_access.unlock(); }

int watch_frames(ibv_context* context, int watched) {
  return of(context)->adapter->model_access.watch_frames(watched != 0);
}

int port_mac(const ibv_device* device, std::uint8_t port_num, std::uint8_t* mac) {
  const host::VerbsDevice& ibv = host::verbs_device(device);
  if (port_num < 1 || port_num > ibv.ports) return EINVAL;
  std::ranges::copy(ibv.mac, mac);
  mac[5] = static_cast<std::uint8_t>(mac[5] + port_num - 1);
  return 0;
}

int set_self_loopback(ibv_qp* qp, int allowed) {
  return control(qp->context,
                 [&](nic::Nic& nic, link::Nanos) { return nic.qps().set_self_loopback(of(qp)->nic, allowed != 0); });
}

int mute_events(ibv_qp* qp) {
  return control(qp->context, [&](nic::Nic&, link::Nanos) {
    of(qp)->events.muted = true;
    return 0;
  });
}

std::uint64_t* model_counter(ibv_device* device, const char* name) {
  host::Device* known = host::Registry::get().find(device);
  return known ? known->model_counter(name) : nullptr;
}

}  // namespace

}  // namespace verbs::soft::abi

// Calls of the extension table: tunnels and asynchronous events.

namespace verbs::soft::abi {

int open_tunnel(ibv_context* context, const verbs_soft_tunnel_attr* attr, verbs_soft_tunnel** tunnel);
void close_tunnel(ibv_context* context, verbs_soft_tunnel* tunnel);
int set_qp_tunnel(ibv_qp* qp, verbs_soft_tunnel_half half, const verbs_soft_tunnel* tunnel);
void raise_event(ibv_context* context, const ibv_async_event* event);

}  // namespace verbs::soft::abi

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

// The function table for vendors' models, and the symbol that marks this libibverbs as ours.

using namespace verbs::soft;

namespace {

abi::ModelData* model_data(void* object, verbs_soft_object type) {
  switch (type) {
    case VERBS_SOFT_CONTEXT:
      return &abi::of(static_cast<ibv_context*>(object))->model;
    case VERBS_SOFT_PD:
      return &abi::of(static_cast<ibv_pd*>(object))->model;
    case VERBS_SOFT_MR:
      return &abi::of(static_cast<ibv_mr*>(object))->model;
    case VERBS_SOFT_CQ:
      return &abi::of(static_cast<ibv_cq*>(object))->model;
    case VERBS_SOFT_QP:
      return &abi::of(static_cast<ibv_qp*>(object))->model;
    default:
      return nullptr;
  }
}

void set_data(void* object, verbs_soft_object type, void* data, void (*release)(void*)) {
  abi::ModelData* model = model_data(object, type);
  if (!model) return;
  model->data = data;
  model->release = release;
}

void* get_data(void* object, verbs_soft_object type) {
  const abi::ModelData* model = model_data(object, type);
  return model ? model->data : nullptr;
}

abi::Kind kind_of(verbs_soft_object type) {
  switch (type) {
    case VERBS_SOFT_CONTEXT:
      return abi::Kind::kContext;
    case VERBS_SOFT_PD:
      return abi::Kind::kPd;
    case VERBS_SOFT_MR:
      return abi::Kind::kMr;
    case VERBS_SOFT_CQ:
      return abi::Kind::kCq;
    case VERBS_SOFT_QP:
      return abi::Kind::kQp;
    case VERBS_SOFT_SRQ:
      return abi::Kind::kSrq;
    case VERBS_SOFT_AH:
      return abi::Kind::kAh;
    case VERBS_SOFT_MW:
      return abi::Kind::kMw;
    case VERBS_SOFT_DM:
      return abi::Kind::kDm;
    case VERBS_SOFT_TD:
      return abi::Kind::kTd;
    case VERBS_SOFT_XRCD:
      return abi::Kind::kXrcd;
    case VERBS_SOFT_CHANNEL:
      break;
  }
  return abi::Kind::kChannel;
}

int with_objects(const verbs_soft_use* objects, std::size_t count, void (*call)(void* data), void* data) {
  if (count > abi::Uses::kMost) return EINVAL;
  abi::Uses uses;
  for (std::size_t i = 0; i < count; ++i) {
    const abi::Kind kind = kind_of(objects[i].type);
    const int error = uses.add(objects[i].object, kind, EINVAL);
    if (error != 0) return kind == abi::Kind::kContext ? EOPNOTSUPP : error;
  }
  call(data);
  return 0;
}

int register_model(const verbs_soft_model* model) { return host::Registry::get().add_model(model); }
int ensure_device(const char* kind) { return host::Registry::get().ensure_device(kind); }

const char* device_kind(const ibv_device* device) {
  const host::Device* found = host::Registry::get().find(device);
  return found ? found->config().kind.c_str() : nullptr;
}

const char* device_option(const ibv_device* device, const char* key) {
  const host::Device* found = host::Registry::get().find(device);
  return found ? found->option(key) : nullptr;
}

verbs_soft_verbs* verbs(ibv_context* context) { return &abi::of(context)->control; }

int set_qp_num(ibv_qp* ibv, std::uint32_t qp_num) {
  abi::Qp* qp = abi::of(ibv);
  const int error =
      abi::control(ibv->context, [&](nic::Nic& nic, link::Nanos) { return nic.qps().renumber(qp->nic, qp_num); });
  if (error == 0) ibv->qp_num = qp_num;
  return error;
}

int set_source_port(ibv_qp* ibv, std::uint16_t port) {
  return abi::control(ibv->context,
                      [&](nic::Nic& nic, link::Nanos) { return nic.qps().set_source_port(abi::of(ibv)->nic, port); });
}

int watch_faults(void* address, std::size_t size, verbs_soft_fault_handler handler, void* data) {
  if (const int error = guard::watched_ranges().add(address, size, handler, data)) return error;
  guard::put_in_front();
  return 0;
}

int unwatch_faults(const void* address) { return guard::watched_ranges().remove(address); }

int at_fork(verbs_soft_lock_rank rank, void (*prepare)(), void (*parent)(), void (*child)()) {
  const auto place = rank == VERBS_SOFT_LOCK_OUTER ? host::LockRank::kModel : host::LockRank::kModelInner;
  return host::at_fork(place, prepare, parent, child) ? 0 : ENOMEM;
}

const verbs_soft_extension_table kExtensionTable = {
    .version = VERBS_SOFT_EXTENSION_VERSION,
    .register_model = kGuarded<register_model>,
    .ensure_device = kGuarded<ensure_device>,
    .device_kind = kGuarded<device_kind>,
    .device_option = kGuarded<device_option>,
    .with_objects = with_objects,
    .set_data = set_data,
    .get_data = get_data,
    .open_device = ibv_open_device,
    .reg_dmabuf_mr = ibv_reg_dmabuf_mr,
    .verbs = verbs,
    .raise_event = kGuarded<abi::raise_event>,
    .open_tunnel = kGuarded<abi::open_tunnel>,
    .close_tunnel = kGuarded<abi::close_tunnel>,
    .set_qp_tunnel = kGuarded<abi::set_qp_tunnel>,
    .set_qp_num = kGuarded<set_qp_num>,
    .set_source_port = kGuarded<set_source_port>,
    .transmit_frame = kGuarded<abi::transmit_frame>,
    .deliver_frame = kGuarded<abi::deliver_frame>,
    .deliver_to_wq = kGuarded<abi::deliver_to_wq>,
    .frame_limit = kGuarded<abi::frame_limit>,
    .lock_device = kGuarded<abi::lock_device>,
    .unlock_device = kGuarded<abi::unlock_device>,
    .watch_frames = kGuarded<abi::watch_frames>,
    .port_mac = kGuarded<abi::port_mac>,
    .set_self_loopback = kGuarded<abi::set_self_loopback>,
    .counter = kGuarded<abi::model_counter>,
    .connection_manager = abi::connection_manager,
    .watch_faults = watch_faults,
    .unwatch_faults = unwatch_faults,
    .at_fork = at_fork,
    .mute_events = kGuarded<abi::mute_events>,
};

}  // namespace

extern "C" {

const verbs_soft_extension_table* verbs_soft_extension(std::uint32_t version) {
  return version == VERBS_SOFT_EXTENSION_VERSION ? &kExtensionTable : nullptr;
}

// A libibverbs with this symbol is the software NIC's, under every file name.
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft 1";

}  // extern "C"

using namespace verbs::soft;

// The exported functions look their objects up; the functions of the table rely on it. A model destroys an object that
// no other call finds any more.
extern "C" {

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(context);
    return error == 0 ? abi::of(context)->control.query_device(context, attr) : error;
  });
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(context);
    return error == 0 ? abi::of(context)->control.alloc_pd(context) : abi::null_with<ibv_pd>(error);
  });
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(pd);
    return error == 0 ? abi::of(pd->context)->control.create_ah(pd, attr) : abi::null_with<ibv_ah>(error);
  });
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int comp_vector) {
  return verb([&] {
    abi::Uses uses;
    if (const int error = uses.add(context)) return abi::null_with<ibv_cq>(error);
    return abi::of(context)->control.create_cq(context, cqe, cq_context, channel, comp_vector);
  });
}

int ibv_destroy_cq(ibv_cq* cq) {
  return verb([&] {
    abi::Retirement retirement;
    const int error = retirement.begin(cq);
    return error == 0 ? abi::of(cq->context)->control.destroy_cq(cq) : error;
  });
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(pd, ENOENT);
    return error == 0 ? abi::of(pd->context)->control.create_qp(pd, attr) : abi::null_with<ibv_qp>(error);
  });
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  return verb([&] {
    abi::Uses uses;
    const int error = uses.add(qp);
    return error == 0 ? abi::of(qp->context)->control.modify_qp(qp, attr, mask) : error;
  });
}

int ibv_destroy_qp(ibv_qp* qp) {
  return verb([&] {
    abi::Retirement retirement;
    const int error = retirement.begin(qp);
    return error == 0 ? abi::of(qp->context)->control.destroy_qp(qp) : error;
  });
}

}  // extern "C"
