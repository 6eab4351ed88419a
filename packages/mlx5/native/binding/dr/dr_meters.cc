// Actions of direct rules with a state of their own: ASO, meters and samplers.
#include "binding/dr/dr_action.h"

namespace verbs::mlx5::binding {
namespace {

using Domain = Object<mlx5dv_dr_domain>;
using Action = mlx5dv_dr_action;

// drActionCreateAso(domain, object, offset, flags, returnRegC): handle | -errno
napi_value create_aso(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  auto* object = domain ? held.object<mlx5dv_devx_obj>(arguments, 1) : nullptr;
  if (!object) return nullptr;
  if (object->context() != domain->context()) return failure(env, EINVAL);
  Action* action =
      created(domain->library().mlx5dv_dr_action_create_aso, domain->get(), object->get(), to_u32(env, arguments[2]),
              to_u32(env, arguments[3]), static_cast<std::uint8_t>(to_u32(env, arguments[4])));
  return attach_action(env, *domain, action, held);
}

// drActionModifyAso(action, offset, flags, returnRegC): 0 | -errno
napi_value modify_aso(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* action = held.object<Action>(arguments, 0);
  if (!action) return nullptr;
  return failure(env, status(action->library().mlx5dv_dr_action_modify_aso, action->get(), to_u32(env, arguments[1]),
                             to_u32(env, arguments[2]), static_cast<std::uint8_t>(to_u32(env, arguments[3]))));
}

// Fills in { nextTable, active, regCIndex, parameter }. False with an exception pending.
bool read_meter(napi_env env, napi_value given, Held* held, mlx5dv_dr_flow_meter_attr* attr,
                const ibv_context** context) {
  auto* table = held->object<mlx5dv_dr_table>(env, get(env, given, "nextTable"));
  if (!table) return false;
  *context = table->context();
  attr->next_table = table->get();
  attr->active = static_cast<std::uint8_t>(to_u32(env, get(env, given, "active")));
  attr->reg_c_index = static_cast<std::uint8_t>(to_u32(env, get(env, given, "regCIndex")));
  // Last, since a getter may take the memory of a buffer away.
  const Bytes parameter = to_bytes(env, get(env, given, "parameter"));
  attr->flow_meter_parameter_sz = parameter.size;
  attr->flow_meter_parameter = parameter.data;
  return true;
}

// drActionCreateFlowMeter(domain, attr): handle | -errno
napi_value create_flow_meter(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  mlx5dv_dr_flow_meter_attr attr{};
  const ibv_context* context = nullptr;
  if (!domain || !read_meter(env, arguments[1], &held, &attr, &context)) return nullptr;
  if (context != domain->context()) return failure(env, EINVAL);
  return attach_action(env, *domain, created(domain->library().mlx5dv_dr_action_create_flow_meter, &attr), held);
}

// drActionModifyFlowMeter(action, attr, modifyFieldSelect: bigint in the device's byte order): 0 | -errno. The table
// must be the action's own: it keeps no other.
napi_value modify_flow_meter(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* action = held.object<Action>(arguments, 0);
  mlx5dv_dr_flow_meter_attr attr{};
  const ibv_context* context = nullptr;
  if (!action || !read_meter(env, arguments[1], &held, &attr, &context)) return nullptr;
  if (context != action->context()) return failure(env, EINVAL);
  return failure(env, status(action->library().mlx5dv_dr_action_modify_flow_meter, action->get(), &attr,
                             static_cast<__be64>(to_u64(env, arguments[2]))));
}

// drActionCreateFlowSampler(domain, { sampleRatio, defaultNextTable, sampleActions, action }): handle | -errno
napi_value create_flow_sampler(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const napi_value given = arguments[1], list = get(env, given, "sampleActions");
  auto* table = held.object<mlx5dv_dr_table>(env, get(env, given, "defaultNextTable"));
  if (!table) return nullptr;
  if (table->context() != domain->context()) return failure(env, EINVAL);
  std::vector<Action*> actions(length_of(env, list));
  for (std::uint32_t i = 0; i < actions.size(); ++i) {
    auto* action = held.object<Action>(env, element(env, list, i));
    if (!action) return nullptr;
    if (action->context() != domain->context()) return failure(env, EINVAL);
    actions[i] = action->get();
  }
  mlx5dv_dr_flow_sampler_attr attr{};
  attr.sample_ratio = to_u32(env, get(env, given, "sampleRatio"));
  attr.default_next_table = table->get();
  attr.num_sample_actions = static_cast<std::uint32_t>(actions.size());
  attr.sample_actions = actions.data();
  attr.action = static_cast<__be64>(to_u64(env, get(env, given, "action")));
  return attach_action(env, *domain, created(domain->library().mlx5dv_dr_action_create_flow_sampler, &attr), held);
}

// drAsoOtherDomainLink(object, peerDomain, domain, flags, returnRegC): 0 | -errno
napi_value aso_link(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  Domain* peer = object ? held.object<mlx5dv_dr_domain>(arguments, 1) : nullptr;
  Domain* domain = peer ? held.object<mlx5dv_dr_domain>(arguments, 2) : nullptr;
  if (!domain) return nullptr;
  return failure(env,
                 status(object->library().mlx5dv_dr_aso_other_domain_link, object->get(), peer->get(), domain->get(),
                        to_u32(env, arguments[3]), static_cast<std::uint8_t>(to_u32(env, arguments[4]))));
}

// drAsoOtherDomainUnlink(object, domain): 0 | -errno
napi_value aso_unlink(const Arguments& arguments) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(arguments, 0);
  Domain* domain = object ? held.object<mlx5dv_dr_domain>(arguments, 1) : nullptr;
  if (!domain) return nullptr;
  return failure(arguments.env,
                 status(object->library().mlx5dv_dr_aso_other_domain_unlink, object->get(), domain->get()));
}

}  // namespace

void init_dr_meters(napi_env env, napi_value exports) {
  export_function<create_aso>(env, exports, "drActionCreateAso");
  export_function<modify_aso>(env, exports, "drActionModifyAso");
  export_function<create_flow_meter>(env, exports, "drActionCreateFlowMeter");
  export_function<modify_flow_meter>(env, exports, "drActionModifyFlowMeter");
  export_function<create_flow_sampler>(env, exports, "drActionCreateFlowSampler");
  export_function<aso_link>(env, exports, "drAsoOtherDomainLink");
  export_function<aso_unlink>(env, exports, "drAsoOtherDomainUnlink");
}

}  // namespace verbs::mlx5::binding
