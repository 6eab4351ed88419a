// Direct rules: domains, tables, matchers, rules and their dumps.
#include <cstdio>
#include <memory>

#include "binding/flow.h"
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// drDomainCreate(library, context, type): handle | -errno
Napi::Value domain_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  const auto type = number_of<mlx5dv_dr_domain_type>(info[2]);
  const auto destroy = [](const Library& its_library, mlx5dv_dr_domain* domain) {
    return status(its_library.mlx5dv_dr_domain_destroy, domain);
  };
  return context.attach(env, created(context.library().mlx5dv_dr_domain_create, context.get(), type), destroy);
}

// drDomainSync(domain, flags): 0 | -errno
Napi::Value domain_sync(const Napi::CallbackInfo& info) {
  Held held;
  auto* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const std::uint32_t flags = number_of<std::uint32_t>(info[1]);
  return failure(info.Env(), status(domain->library().mlx5dv_dr_domain_sync, domain->get(), flags));
}

// drDomainSetReclaimDeviceMemory(domain, enable), drDomainAllowDuplicateRules(domain, allow): 0 | -errno
template <void (*Library::*Function)(mlx5dv_dr_domain*, bool)>
Napi::Value domain_switch(const Napi::CallbackInfo& info) {
  Held held;
  auto* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const auto function = domain->library().*Function;
  if (function) function(domain->get(), flag_of(info[1]));
  return failure(info.Env(), function ? 0 : EOPNOTSUPP);
}

// drTableCreate(domain, level): handle | -errno
Napi::Value table_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const auto destroy = [](const Library& library, mlx5dv_dr_table* table) {
    return status(library.mlx5dv_dr_table_destroy, table);
  };
  mlx5dv_dr_table* table =
      created(domain->library().mlx5dv_dr_table_create, domain->get(), number_of<std::uint32_t>(info[1]));
  return attach(env, domain->library(), domain->context(), table, destroy, held.parents());
}

// drMatcherCreate(table, priority, matchCriteriaEnable, mask): handle | -errno
Napi::Value matcher_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* table = held.object<mlx5dv_dr_table>(info, 0);
  MatchParameters mask(bytes_of(info[3]));
  const auto destroy = [](const Library& library, mlx5dv_dr_matcher* matcher) {
    return status(library.mlx5dv_dr_matcher_destroy, matcher);
  };
  mlx5dv_dr_matcher* matcher = created(table->library().mlx5dv_dr_matcher_create, table->get(),
                                       number_of<std::uint16_t>(info[1]), number_of<std::uint8_t>(info[2]), mask.get());
  return attach(env, table->library(), table->context(), matcher, destroy, held.parents());
}

// drMatcherSetLayout(matcher, flags, logNumOfRulesHint): 0 | -errno
Napi::Value matcher_set_layout(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* matcher = held.object<mlx5dv_dr_matcher>(info, 0);
  mlx5dv_dr_matcher_layout layout{};
  layout.flags = number_of<std::uint32_t>(info[1]);
  layout.log_num_of_rules_hint = number_of<std::uint32_t>(info[2]);
  return failure(env, status(matcher->library().mlx5dv_dr_matcher_set_layout, matcher->get(), &layout));
}

// drRuleCreate(matcher, value, actions: action[]): handle | -errno
Napi::Value rule_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* matcher = held.object<mlx5dv_dr_matcher>(info, 0);
  MatchParameters value(bytes_of(info[1]));
  const Napi::Array list = list_of(info[2]);
  std::vector<mlx5dv_dr_action*> actions(list.Length());
  for (std::uint32_t i = 0; i < actions.size(); ++i) {
    auto* action = held.object<mlx5dv_dr_action>(list.Get(i));
    if (action->context() != matcher->context()) return failure(env, EINVAL);
    actions[i] = action->get();
  }
  const auto destroy = [](const Library& library, mlx5dv_dr_rule* rule) {
    return status(library.mlx5dv_dr_rule_destroy, rule);
  };
  mlx5dv_dr_rule* rule =
      created(matcher->library().mlx5dv_dr_rule_create, matcher->get(), value.get(), actions.size(), actions.data());
  return attach(env, matcher->library(), matcher->context(), rule, destroy, held.parents());
}

// dumpDrDomain(domain) and so on: string | -errno. The text that the library writes to a FILE.
template <typename T, int (*Library::*Function)(FILE*, T*)>
Napi::Value dump(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* object = held.object<T>(info, 0);
  char* data = nullptr;
  std::size_t size = 0;
  FILE* file = open_memstream(&data, &size);
  if (!file) return failure(env, errno);
  const int error = status(object->library().*Function, file, object->get());
  std::fclose(file);
  const std::unique_ptr<char, void (*)(void*)> owner(data, std::free);
  return error != 0 ? failure(env, error) : text(env, std::string(data, size));
}

}  // namespace

void init_dr(Napi::Object exports) {
  export_function<domain_create>(exports, "drDomainCreate");
  export_function<domain_sync>(exports, "drDomainSync");
  export_function<domain_switch<&Library::mlx5dv_dr_domain_set_reclaim_device_memory>>(
      exports, "drDomainSetReclaimDeviceMemory");
  export_function<domain_switch<&Library::mlx5dv_dr_domain_allow_duplicate_rules>>(exports,
                                                                                   "drDomainAllowDuplicateRules");
  export_function<table_create>(exports, "drTableCreate");
  export_function<matcher_create>(exports, "drMatcherCreate");
  export_function<matcher_set_layout>(exports, "drMatcherSetLayout");
  export_function<rule_create>(exports, "drRuleCreate");
  export_function<dump<mlx5dv_dr_domain, &Library::mlx5dv_dump_dr_domain>>(exports, "dumpDrDomain");
  export_function<dump<mlx5dv_dr_table, &Library::mlx5dv_dump_dr_table>>(exports, "dumpDrTable");
  export_function<dump<mlx5dv_dr_matcher, &Library::mlx5dv_dump_dr_matcher>>(exports, "dumpDrMatcher");
  export_function<dump<mlx5dv_dr_rule, &Library::mlx5dv_dump_dr_rule>>(exports, "dumpDrRule");
}

}  // namespace verbs::mlx5::binding
