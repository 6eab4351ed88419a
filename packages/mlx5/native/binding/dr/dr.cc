// Direct rules: domains, tables, matchers, rules and their dumps.
#include <cstdio>
#include <memory>

#include "binding/flow.h"
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// drDomainCreate(library, context, type): handle | -errno
napi_value domain_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const auto type = static_cast<mlx5dv_dr_domain_type>(to_u32(env, arguments[2]));
  const auto destroy = [](const Library& its_library, mlx5dv_dr_domain* domain) {
    return status(its_library.mlx5dv_dr_domain_destroy, domain);
  };
  return context.attach(env, created(context.library().mlx5dv_dr_domain_create, context.get(), type), destroy);
}

// drDomainSync(domain, flags): 0 | -errno
napi_value domain_sync(const Arguments& arguments) {
  Held held;
  auto* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const std::uint32_t flags = to_u32(arguments.env, arguments[1]);
  return failure(arguments.env, status(domain->library().mlx5dv_dr_domain_sync, domain->get(), flags));
}

// drDomainSetReclaimDeviceMemory(domain, enable), drDomainAllowDuplicateRules(domain, allow): 0 | -errno
template <void (*Library::*Function)(mlx5dv_dr_domain*, bool)>
napi_value domain_switch(const Arguments& arguments) {
  Held held;
  auto* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const auto function = domain->library().*Function;
  if (function) function(domain->get(), to_boolean(arguments.env, arguments[1]));
  return failure(arguments.env, function ? 0 : EOPNOTSUPP);
}

// drTableCreate(domain, level): handle | -errno
napi_value table_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const auto destroy = [](const Library& library, mlx5dv_dr_table* table) {
    return status(library.mlx5dv_dr_table_destroy, table);
  };
  mlx5dv_dr_table* table = created(domain->library().mlx5dv_dr_table_create, domain->get(), to_u32(env, arguments[1]));
  return attach(env, domain->library(), domain->context(), table, destroy, held.parents());
}

// drMatcherCreate(table, priority, matchCriteriaEnable, mask): handle | -errno
napi_value matcher_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* table = held.object<mlx5dv_dr_table>(arguments, 0);
  if (!table) return nullptr;
  MatchParameters mask(to_bytes(env, arguments[3]));
  const auto destroy = [](const Library& library, mlx5dv_dr_matcher* matcher) {
    return status(library.mlx5dv_dr_matcher_destroy, matcher);
  };
  mlx5dv_dr_matcher* matcher = created(table->library().mlx5dv_dr_matcher_create, table->get(),
                                       static_cast<std::uint16_t>(to_u32(env, arguments[1])),
                                       static_cast<std::uint8_t>(to_u32(env, arguments[2])), mask.get());
  return attach(env, table->library(), table->context(), matcher, destroy, held.parents());
}

// drMatcherSetLayout(matcher, flags, logNumOfRulesHint): 0 | -errno
napi_value matcher_set_layout(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* matcher = held.object<mlx5dv_dr_matcher>(arguments, 0);
  if (!matcher) return nullptr;
  mlx5dv_dr_matcher_layout layout{};
  layout.flags = to_u32(env, arguments[1]);
  layout.log_num_of_rules_hint = to_u32(env, arguments[2]);
  return failure(env, status(matcher->library().mlx5dv_dr_matcher_set_layout, matcher->get(), &layout));
}

// drRuleCreate(matcher, value, actions: action[]): handle | -errno
napi_value rule_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* matcher = held.object<mlx5dv_dr_matcher>(arguments, 0);
  if (!matcher) return nullptr;
  MatchParameters value(to_bytes(env, arguments[1]));
  std::vector<mlx5dv_dr_action*> actions(length_of(env, arguments[2]));
  for (std::uint32_t i = 0; i < actions.size(); ++i) {
    auto* action = held.object<mlx5dv_dr_action>(env, element(env, arguments[2], i));
    if (!action) return nullptr;
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
napi_value dump(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* object = held.object<T>(arguments, 0);
  if (!object) return nullptr;
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

void init_dr(napi_env env, napi_value exports) {
  export_function<domain_create>(env, exports, "drDomainCreate");
  export_function<domain_sync>(env, exports, "drDomainSync");
  export_function<domain_switch<&Library::mlx5dv_dr_domain_set_reclaim_device_memory>>(
      env, exports, "drDomainSetReclaimDeviceMemory");
  export_function<domain_switch<&Library::mlx5dv_dr_domain_allow_duplicate_rules>>(env, exports,
                                                                                   "drDomainAllowDuplicateRules");
  export_function<table_create>(env, exports, "drTableCreate");
  export_function<matcher_create>(env, exports, "drMatcherCreate");
  export_function<matcher_set_layout>(env, exports, "drMatcherSetLayout");
  export_function<rule_create>(env, exports, "drRuleCreate");
  export_function<dump<mlx5dv_dr_domain, &Library::mlx5dv_dump_dr_domain>>(env, exports, "dumpDrDomain");
  export_function<dump<mlx5dv_dr_table, &Library::mlx5dv_dump_dr_table>>(env, exports, "dumpDrTable");
  export_function<dump<mlx5dv_dr_matcher, &Library::mlx5dv_dump_dr_matcher>>(env, exports, "dumpDrMatcher");
  export_function<dump<mlx5dv_dr_rule, &Library::mlx5dv_dump_dr_rule>>(env, exports, "dumpDrRule");
}

}  // namespace verbs::mlx5::binding
