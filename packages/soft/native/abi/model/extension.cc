// The function table for vendors' models, and the symbol that marks this libibverbs as ours.
#include <cerrno>

#include "abi/model/connection_manager.h"
#include "abi/model/raw_packet.h"
#include "abi/model/tunnel.h"
#include "abi/objects/objects.h"
#include "guard/fault_handler.h"
#include "guard/watched_ranges.h"
#include "host/devices/registry.h"
#include "host/fork_order.h"
#include "verbs_soft_extension.h"

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

const verbs_soft_extension_table kTable = {
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
    .frame_limit = kGuarded<abi::frame_limit>,
    .lock_device = kGuarded<abi::lock_device>,
    .unlock_device = kGuarded<abi::unlock_device>,
    .port_mac = kGuarded<abi::port_mac>,
    .set_self_loopback = kGuarded<abi::set_self_loopback>,
    .counter = kGuarded<abi::model_counter>,
    .connection_manager = abi::connection_manager,
    .watch_faults = watch_faults,
    .unwatch_faults = unwatch_faults,
    .at_fork = at_fork,
};

}  // namespace

extern "C" {

const verbs_soft_extension_table* verbs_soft_extension(std::uint32_t version) {
  return version == VERBS_SOFT_EXTENSION_VERSION ? &kTable : nullptr;
}

// A libibverbs with this symbol is the software NIC's, under every file name.
extern const char verbs_soft_marker[];
const char verbs_soft_marker[] = "verbs-soft 1";

}  // extern "C"
