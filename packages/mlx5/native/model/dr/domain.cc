// Domains and tables of direct rules.
#include "model/device/privilege.h"
#include "model/dr/objects.h"

namespace verbs::mlx5::model {

namespace {

Live<DrDomain>& domains() { return live<DrDomain>(); }
Live<DrTable>& tables() { return live<DrTable>(); }

}  // namespace

DrDomain* find_dr_domain(const mlx5dv_dr_domain* handle) { return domains().find(handle); }
DrTable* find_dr_table(const mlx5dv_dr_table* handle) { return tables().find(handle); }

void forget_dr_tables(Context& context) {
  tables().remove_if([&](const DrTable& table) { return table.domain.owner == &context; });
  domains().remove_if([&](const DrDomain& domain) { return domain.owner == &context; });
}

}  // namespace verbs::mlx5::model

using namespace verbs::mlx5::model;

mlx5dv_dr_table::mlx5dv_dr_table(mlx5dv_dr_domain& its_domain, std::uint32_t its_level)
    : domain(its_domain),
      level(its_level),
      table(its_level == 0 ? nullptr : std::make_shared<steering::FlowTable>(its_level)),
      used_domain(its_domain) {}

namespace verbs::mlx5::model {

mlx5dv_dr_domain* mlx5dv_dr_domain_create(ibv_context* verbs, mlx5dv_dr_domain_type type) {
  if (!verbs) return null_with<mlx5dv_dr_domain>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_dr_domain>(EOPNOTSUPP);
  // The model has no e-switch.
  if (type == MLX5DV_DR_DOMAIN_TYPE_FDB) return null_with<mlx5dv_dr_domain>(EOPNOTSUPP);
  if (type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX && type != MLX5DV_DR_DOMAIN_TYPE_NIC_TX) {
    return null_with<mlx5dv_dr_domain>(EINVAL);
  }
  if (context->device->capabilities.cap_net_raw != 0 && !has_net_raw()) return null_with<mlx5dv_dr_domain>(EPERM);
  auto domain = std::make_unique<DrDomain>();
  domain->owner = context;
  domain->type = type;
  return domains().add(std::move(domain));
}

int mlx5dv_dr_domain_destroy(mlx5dv_dr_domain* handle) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = domains().find(handle);
  if (!domain) return EINVAL;
  if (domain->in_use()) return EBUSY;
  domains().remove(domain);
  return 0;
}

// A call that changes the tables returns when the change is complete.
int mlx5dv_dr_domain_sync(mlx5dv_dr_domain* handle, std::uint32_t flags) {
  constexpr std::uint32_t kKnown =
      MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM;
  const ModelLock guard(model_mutex());
  if (!domains().find(handle)) return EINVAL;
  return (flags & ~kKnown) != 0 ? EOPNOTSUPP : 0;
}

// The model has no device memory to keep for later.
void mlx5dv_dr_domain_set_reclaim_device_memory(mlx5dv_dr_domain*, bool) {}

void mlx5dv_dr_domain_allow_duplicate_rules(mlx5dv_dr_domain* handle, bool allow) {
  const ModelLock guard(model_mutex());
  if (DrDomain* domain = domains().find(handle)) domain->duplicates = allow;
}

mlx5dv_dr_table* mlx5dv_dr_table_create(mlx5dv_dr_domain* handle, std::uint32_t level) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = domains().find(handle);
  if (!domain) return null_with<mlx5dv_dr_table>(EINVAL);
  return tables().add(std::make_unique<DrTable>(*domain, level));
}

int mlx5dv_dr_table_destroy(mlx5dv_dr_table* handle) {
  const ModelLock guard(model_mutex());
  DrTable* table = tables().find(handle);
  if (!table) return EINVAL;
  if (table->in_use()) return EBUSY;
  tables().remove(table);
  return 0;
}

}  // namespace verbs::mlx5::model
