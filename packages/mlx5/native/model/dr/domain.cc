// Domains and tables of direct rules.
#include "model/device/device.h"
#include "model/dr/action.h"
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

// mlx5dv_dump_dr_domain, _table, _matcher and _rule: one line for each object with its kind, its address as its number,
// its parent's number, and its properties.

namespace verbs::mlx5::model {

namespace {

const void* id(const void* object) { return object; }

void dump(std::FILE* out, const DrRule& rule) {
  const std::uint64_t hits = rule.rule ? rule.rule->hits() : rule.flow->entry->hits();
  std::fprintf(out, "rule,%p,%p,hits=%llu", id(&rule), id(&rule.matcher), static_cast<unsigned long long>(hits));
  for (const DrAction* action : rule.actions) std::fprintf(out, ",%s", name_of(action->kind));
  std::fputc('\n', out);
}

void dump(std::FILE* out, const DrMatcher& matcher) {
  std::fprintf(out, "matcher,%p,%p,priority=%u,criteria=0x%x,mask=", id(&matcher), id(&matcher.table),
               unsigned{matcher.priority}, unsigned{matcher.criteria});
  const std::uint8_t* mask = matcher.root ? matcher.root->mask.data() : matcher.matcher->mask().data();
  for (std::size_t i = 0; i < steering::kMatchSize; ++i) {
    if (mask[i] != 0) std::fprintf(out, "%zu:%02x ", i, unsigned{mask[i]});
  }
  std::fputc('\n', out);
  live<DrRule>().each([&](const DrRule& rule) {
    if (&rule.matcher == &matcher) dump(out, rule);
  });
}

void dump(std::FILE* out, const DrTable& table) {
  std::fprintf(out, "table,%p,%p,level=%u\n", id(&table), id(&table.domain), table.level);
  live<DrMatcher>().each([&](const DrMatcher& matcher) {
    if (&matcher.table == &table) dump(out, matcher);
  });
}

void dump(std::FILE* out, const DrDomain& domain) {
  const char* side = domain.direction() == Direction::kReceive ? "nic_rx" : "nic_tx";
  std::fprintf(out, "domain,%p,%s,type=%s\n", id(&domain), domain.owner->device->ibv->name, side);
  live<DrTable>().each([&](const DrTable& table) {
    if (&table.domain == &domain) dump(out, table);
  });
}

template <typename T>
int dump_checked(std::FILE* out, const T* object) {
  if (!out || !object) return EINVAL;
  dump(out, *object);
  return std::ferror(out) != 0 ? EIO : 0;
}

}  // namespace

int mlx5dv_dump_dr_domain(std::FILE* out, mlx5dv_dr_domain* handle) {
  const ModelLock guard(model_mutex());
  return dump_checked(out, find_dr_domain(handle));
}

int mlx5dv_dump_dr_table(std::FILE* out, mlx5dv_dr_table* handle) {
  const ModelLock guard(model_mutex());
  return dump_checked(out, find_dr_table(handle));
}

int mlx5dv_dump_dr_matcher(std::FILE* out, mlx5dv_dr_matcher* handle) {
  const ModelLock guard(model_mutex());
  return dump_checked(out, find_dr_matcher(handle));
}

int mlx5dv_dump_dr_rule(std::FILE* out, mlx5dv_dr_rule* handle) {
  const ModelLock guard(model_mutex());
  return dump_checked(out, live<DrRule>().find(handle));
}

}  // namespace verbs::mlx5::model
