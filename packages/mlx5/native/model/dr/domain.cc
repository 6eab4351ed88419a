// Domains and tables of direct rules.
#include "model/device/privilege.h"
#include "model/dr/close.h"

namespace verbs::mlx5 {

namespace {

Live<DrDomain>& domains() { return live<DrDomain>(); }
Live<DrTable>& tables() { return live<DrTable>(); }

}  // namespace

DrDomain* find_dr_domain(const mlx5dv_dr_domain* face) { return domains().find(face); }
DrTable* find_dr_table(const mlx5dv_dr_table* face) { return tables().find(face); }

void forget_dr_tables(Context& context) {
  tables().remove_if([&](const DrTable& table) { return table.domain.owner == &context; });
  domains().remove_if([&](const DrDomain& domain) { return domain.owner == &context; });
}

}  // namespace verbs::mlx5

using namespace verbs::mlx5;

mlx5dv_dr_table::mlx5dv_dr_table(mlx5dv_dr_domain& its_domain, std::uint32_t its_level)
    : domain(its_domain),
      level(its_level),
      table(its_level == 0 ? nullptr : std::make_shared<steering::FlowTable>(its_level)),
      used_domain(its_domain) {}

extern "C" {

mlx5dv_dr_domain* mlx5dv_dr_domain_create(ibv_context* verbs, mlx5dv_dr_domain_type type) {
  if (!verbs) return null_with<mlx5dv_dr_domain>(EINVAL);
  const ModelLock guard(model_mutex());
  Context* context = context_of(verbs);
  if (!context) return null_with<mlx5dv_dr_domain>(EOPNOTSUPP);
  // There is no e-switch.
  if (type == MLX5DV_DR_DOMAIN_TYPE_FDB) return null_with<mlx5dv_dr_domain>(EOPNOTSUPP);
  if (type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX && type != MLX5DV_DR_DOMAIN_TYPE_NIC_TX) {
    return null_with<mlx5dv_dr_domain>(EINVAL);
  }
  if (context->device->capabilities.strict != 0 && !has_net_raw()) return null_with<mlx5dv_dr_domain>(EPERM);
  auto domain = std::make_unique<DrDomain>();
  domain->owner = context;
  domain->type = type;
  return domains().add(std::move(domain));
}

int mlx5dv_dr_domain_destroy(mlx5dv_dr_domain* face) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = domains().find(face);
  if (!domain) return EINVAL;
  if (domain->in_use()) return EBUSY;
  domains().remove(domain);
  return 0;
}

// A change of the tables is complete when the call that makes it returns.
int mlx5dv_dr_domain_sync(mlx5dv_dr_domain* face, std::uint32_t flags) {
  constexpr std::uint32_t kKnown =
      MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM;
  const ModelLock guard(model_mutex());
  if (!domains().find(face)) return EINVAL;
  return (flags & ~kKnown) != 0 ? EOPNOTSUPP : 0;
}

// Memory of the device that could be kept for later is none.
void mlx5dv_dr_domain_set_reclaim_device_memory(mlx5dv_dr_domain*, bool) {}

void mlx5dv_dr_domain_allow_duplicate_rules(mlx5dv_dr_domain* face, bool allow) {
  const ModelLock guard(model_mutex());
  if (DrDomain* domain = domains().find(face)) domain->duplicates = allow;
}

mlx5dv_dr_table* mlx5dv_dr_table_create(mlx5dv_dr_domain* face, std::uint32_t level) {
  const ModelLock guard(model_mutex());
  DrDomain* domain = domains().find(face);
  if (!domain) return null_with<mlx5dv_dr_table>(EINVAL);
  return tables().add(std::make_unique<DrTable>(*domain, level));
}

int mlx5dv_dr_table_destroy(mlx5dv_dr_table* face) {
  const ModelLock guard(model_mutex());
  DrTable* table = tables().find(face);
  if (!table) return EINVAL;
  if (table->in_use()) return EBUSY;
  tables().remove(table);
  return 0;
}

}  // extern "C"
