// mlx5dv_create_steering_anchor and mlx5dv_destroy_steering_anchor.
#include "model/flow/steering_anchor.h"

#include "model/device/objects.h"
#include "model/device/privilege.h"
#include "model/flow/entry.h"

namespace verbs::mlx5::model {

namespace {

struct Anchor : mlx5dv_steering_anchor {
  Anchor(std::uint32_t table, Context& its_owner) : mlx5dv_steering_anchor{.id = table}, owner(&its_owner) {}
  Context* const owner;
};

Live<Anchor, mlx5dv_steering_anchor>& anchors() { return live<Anchor, mlx5dv_steering_anchor>(); }

}  // namespace

void forget_steering_anchors(Context& context) {
  anchors().remove_if([&](const Anchor& anchor) { return anchor.owner == &context; });
}

mlx5dv_steering_anchor* mlx5dv_create_steering_anchor(ibv_context* verbs, mlx5dv_steering_anchor_attr* attr) {
  if (!verbs || !attr) return null_with<mlx5dv_steering_anchor>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_steering_anchor>(EOPNOTSUPP);
  if (attr->comp_mask != 0) return null_with<mlx5dv_steering_anchor>(EOPNOTSUPP);
  Device& device = *context->device;
  if (device.capabilities.cap_net_raw != 0 && !has_net_raw()) return null_with<mlx5dv_steering_anchor>(EPERM);
  if (attr->ft_type > MLX5DV_FLOW_TABLE_TYPE_RDMA_TX) return null_with<mlx5dv_steering_anchor>(EINVAL);
  const bool receive = attr->ft_type == MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
  if (!receive && attr->ft_type != MLX5DV_FLOW_TABLE_TYPE_NIC_TX) return null_with<mlx5dv_steering_anchor>(EOPNOTSUPP);
  if (attr->priority >= kPriorities) return null_with<mlx5dv_steering_anchor>(ENOMEM);
  const DeviceLock lock(*context);
  if (lock.error() != 0) return null_with<mlx5dv_steering_anchor>(lock.error());
  const auto table = device.root(receive ? Direction::kReceive : Direction::kTransmit).table(attr->priority);
  return anchors().add(std::make_unique<Anchor>(device.id_of(*table), *context));
}

int mlx5dv_destroy_steering_anchor(mlx5dv_steering_anchor* handle) {
  const ModelLock guard(model_mutex());
  Anchor* anchor = anchors().find(handle);
  if (!anchor) return EINVAL;
  anchors().remove(anchor);
  return 0;
}

}  // namespace verbs::mlx5::model
