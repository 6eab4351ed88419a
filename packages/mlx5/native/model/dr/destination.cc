// The destination actions of direct rules: queue pairs, TIRs, tables, and arrays of these.
#include "model/devx/tir.h"
#include "model/dr/action.h"

namespace verbs::mlx5::model {

namespace {

mlx5dv_dr_action* add_receiver(RawQp& qp, Counted& used, Context& owner) {
  auto action = std::make_unique<DrAction>(DrKind::kQp);
  action->owner = &owner;
  action->used.emplace_back(used);
  action->steps.emplace_back(steering::Destination{steering::ToReceiver{&qp}});
  return add_dr_action(std::move(action));
}

mlx5dv_dr_action* add_table(DrTable& table, std::shared_ptr<steering::FlowTable> destination) {
  auto action = action_to(DrKind::kTable, table);
  action->steps.emplace_back(steering::Destination{steering::ToTable{std::move(destination)}});
  return add_dr_action(std::move(action));
}

// Adds one element of a destination array: 0 or errno.
int add_element(const DrDomain& domain, const mlx5dv_dr_action_dest_attr* attr, DrAction& action,
                steering::DestinationArray& array) {
  if (!attr) return EINVAL;
  // Only an FDB domain can encapsulate for one destination.
  if (attr->type == MLX5DV_DR_ACTION_DEST_REFORMAT) return EOPNOTSUPP;
  if (attr->type != MLX5DV_DR_ACTION_DEST) return EINVAL;
  DrAction* element = find_dr_action(attr->dest);
  if (!element || (element->owner && element->owner != domain.owner)) return EINVAL;
  if (element->domain && element->domain != &domain) return EINVAL;
  switch (element->kind) {
    case DrKind::kQp:
    case DrKind::kTable:
      array.entries.push_back({nullptr, std::get<steering::Destination>(element->steps.front())});
      break;
    case DrKind::kCounter:
      action.steps.push_back(element->steps.front());
      break;
    default:
      return EOPNOTSUPP;
  }
  action.used.emplace_back(*element);
  return 0;
}

}  // namespace

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_ibv_qp(ibv_qp* ibv) {
  const ModelLock guard(model_mutex());
  RawQp* qp = find_qp(ibv);
  return qp ? add_receiver(*qp, *qp, *qp->owner) : null_with<mlx5dv_dr_action>(EINVAL);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_devx_tir(mlx5dv_devx_obj* handle) {
  const ModelLock guard(model_mutex());
  Context* context = nullptr;
  auto* tir = dynamic_cast<DevxTir*>(find_devx_object(handle, &context));
  return tir ? add_receiver(tir->qp(), *tir, *context) : null_with<mlx5dv_dr_action>(EINVAL);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_table(mlx5dv_dr_table* handle) {
  const ModelLock guard(model_mutex());
  DrTable* table = find_dr_table(handle);
  return table && !table->is_root() ? add_table(*table, table->table) : null_with<mlx5dv_dr_action>(EINVAL);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_root_table(mlx5dv_dr_table* handle, std::uint16_t priority) {
  const ModelLock guard(model_mutex());
  DrTable* table = find_dr_table(handle);
  if (!table || !table->is_root() || priority >= kPriorities) return null_with<mlx5dv_dr_action>(EINVAL);
  const Context& context = *table->domain.owner;
  const DeviceLock lock(context);
  if (lock.error() != 0) return null_with<mlx5dv_dr_action>(lock.error());
  return add_table(*table, context.device->root(table->domain.direction()).table(priority));
}

// Virtual ports are destinations of FDB domains, which the model does not have.
mlx5dv_dr_action* mlx5dv_dr_action_create_dest_vport(mlx5dv_dr_domain*, std::uint32_t) {
  return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_ib_port(mlx5dv_dr_domain*, std::uint32_t) {
  return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
}

mlx5dv_dr_action* mlx5dv_dr_action_create_dest_array(mlx5dv_dr_domain* handle, std::size_t count,
                                                     mlx5dv_dr_action_dest_attr* attrs[]) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = find_dr_domain(handle);
  if (!domain || !attrs || count <= 1) return null_with<mlx5dv_dr_action>(EINVAL);
  if (domain->type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX) return null_with<mlx5dv_dr_action>(EOPNOTSUPP);
  auto action = std::make_unique<DrAction>(DrKind::kArray);
  action->owner = domain->owner;
  action->domain = domain;
  auto array = std::make_shared<steering::DestinationArray>();
  for (std::size_t i = 0; i < count; ++i) {
    if (const int error = add_element(*domain, attrs[i], *action, *array)) return null_with<mlx5dv_dr_action>(error);
  }
  action->used.emplace_back(*domain);
  action->steps.emplace_back(steering::Destination{steering::ToArray{std::move(array)}});
  return add_dr_action(std::move(action));
}

}  // namespace verbs::mlx5::model
