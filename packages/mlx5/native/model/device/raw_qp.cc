#include "model/device/raw_qp.h"

#include <map>

#include "model/device/privilege.h"

namespace verbs::mlx5::model {

namespace {

using Known = std::map<const ibv_qp*, std::unique_ptr<RawQp>>;

Known& known() {
  static auto& qps = *new Known;
  return qps;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  Context* context = context_of(pd->context);
  const bool privileged = context->device->capabilities.cap_net_raw != 0;
  if (attr->qp_type == IBV_QPT_RAW_PACKET && privileged && !has_net_raw()) return null_with<ibv_qp>(EPERM);
  // Its entry first, so that nothing fails when the NIC has made the queue pair.
  Known one;
  if (attr->qp_type == IBV_QPT_RAW_PACKET) one.emplace(nullptr, std::make_unique<RawQp>(*context));
  ibv_qp* ibv = context->base.create_qp(pd, attr);
  if (ibv && !one.empty()) {
    Known::node_type entry = one.extract(one.begin());
    entry.key() = entry.mapped()->ibv = ibv;
    const ModelLock guard(model_mutex());
    known().insert(std::move(entry));
  }
  return ibv;
}

int modify_qp(ibv_qp* ibv, ibv_qp_attr* attr, int mask) {
  Context* context = context_of(ibv->context);
  if (const int error = context->base.modify_qp(ibv, attr, mask)) return error;
  if ((mask & IBV_QP_PORT) == 0) return 0;
  const ModelLock guard(model_mutex());
  RawQp* qp = find_qp(ibv);
  if (!qp) return 0;
  const DeviceLock lock(*context);
  qp->port_num = attr->port_num;
  return 0;
}

int destroy_qp(ibv_qp* ibv) {
  Context* context = context_of(ibv->context);
  const ModelLock guard(model_mutex());
  const RawQp* qp = find_qp(ibv);
  if (qp && qp->in_use()) return EBUSY;
  const int error = context->base.destroy_qp(ibv);
  if (error == 0) known().erase(ibv);
  return error;
}

}  // namespace

RawQp* find_qp(const ibv_qp* ibv) {
  const auto found = known().find(ibv);
  return found == known().end() ? nullptr : found->second.get();
}

RawQp* find_qp(const Context& context, std::uint32_t qp_num) {
  for (const auto& [ibv, qp] : known()) {
    if (qp->owner == &context && ibv->qp_num == qp_num) return qp.get();
  }
  return nullptr;
}

void install_qp_verbs(verbs_soft_verbs& control) {
  control.create_qp = create_qp;
  control.modify_qp = modify_qp;
  control.destroy_qp = destroy_qp;
}

void forget_qps(Context& context) {
  std::erase_if(known(), [&](const auto& entry) { return entry.second->owner == &context; });
}

}  // namespace verbs::mlx5::model
