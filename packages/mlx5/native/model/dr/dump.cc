// mlx5dv_dump_dr_domain, _table, _matcher and _rule: one line for each object with its kind, its address as its number,
// its parent's number, and its properties.
#include "model/dr/action.h"

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
