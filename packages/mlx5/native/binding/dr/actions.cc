// Actions of direct rules.
#include <arpa/inet.h>

#include <tuple>

#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

inline int destroy_dr_action(const Library& library, mlx5dv_dr_action* action) {
  return status(library.mlx5dv_dr_action_destroy, action);
}

// The handle of a new action, whose first parent is its domain.
inline napi_value attach_action(napi_env env, const Object<mlx5dv_dr_domain>& domain, mlx5dv_dr_action* action,
                                const Held& held) {
  return attach(env, domain.library(), domain.context(), action, destroy_dr_action, held.parents());
}

// Actions of direct rules. Each is made for a domain, also those that the library makes for none: it says whose library
// is meant.

using Domain = Object<mlx5dv_dr_domain>;
using Action = mlx5dv_dr_action;

// drActionCreateDrop(domain), …DefaultMiss(domain), …PopVlan(domain): handle | -errno
template <Action* (*Library::*Function)()>
napi_value create_plain(const Arguments& arguments) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  return attach_action(arguments.env, *domain, created(domain->library().*Function), held);
}

// drActionCreateTag(domain, tagValue): handle | -errno
napi_value create_tag(const Arguments& arguments) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  Action* action = created(domain->library().mlx5dv_dr_action_create_tag, to_u32(arguments.env, arguments[1]));
  return attach_action(arguments.env, *domain, action, held);
}

// drActionCreateDestVport(domain, vport), …DestIbPort(domain, ibPort), …PushVlan(domain, vlanHdr): handle | -errno
template <Action* (*Library::*Function)(mlx5dv_dr_domain*, std::uint32_t)>
napi_value create_numbered(const Arguments& arguments) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  Action* action = created(domain->library().*Function, domain->get(), to_u32(arguments.env, arguments[1]));
  return attach_action(arguments.env, *domain, action, held);
}
napi_value create_push_vlan(const Arguments& arguments) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const __be32 header = htonl(to_u32(arguments.env, arguments[1]));
  return attach_action(arguments.env, *domain,
                       created(domain->library().mlx5dv_dr_action_create_push_vlan, domain->get(), header), held);
}

// drActionCreateDestIbvQp(domain, qp): handle | -errno
napi_value create_dest_ibv_qp(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  auto* qp = domain ? held.verbs<ibv_qp>(arguments, 1, VERBS_CORE_QP) : nullptr;
  if (!qp) return nullptr;
  if (qp->context != domain->context()) return failure(env, EINVAL);
  return attach_action(env, *domain, created(domain->library().mlx5dv_dr_action_create_dest_ibv_qp, qp), held);
}

// drActionCreateDestTable(domain, table), …DestDevxTir(domain, object): handle | -errno; further arguments are numbers.
template <typename T, auto Function, typename... Numbers>
napi_value create_with(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  auto* object = domain ? held.object<T>(arguments, 1) : nullptr;
  if (!object) return nullptr;
  if (object->context() != domain->context()) return failure(env, EINVAL);
  std::size_t next = 2;
  // Braces evaluate in order.
  const std::tuple<Numbers...> numbers{static_cast<Numbers>(to_u32(env, arguments[next++]))...};
  Action* action =
      std::apply([&](auto... given) { return created(domain->library().*Function, object->get(), given...); }, numbers);
  return attach_action(env, *domain, action, held);
}

// drActionCreatePacketReformat(domain, flags, reformatType, data | undefined): handle | -errno
napi_value create_packet_reformat(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const auto type = static_cast<mlx5dv_flow_action_packet_reformat_type>(to_u32(env, arguments[2]));
  const Bytes data = to_bytes(env, arguments[3]);
  Action* action = created(domain->library().mlx5dv_dr_action_create_packet_reformat, domain->get(),
                           to_u32(env, arguments[1]), type, data.size, static_cast<void*>(data.data));
  return attach_action(env, *domain, action, held);
}

// drActionCreateModifyHeader(domain, flags, actions: BigUint64Array in the device's byte order): handle | -errno
napi_value create_modify_header(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const Bytes actions = to_bytes(env, arguments[2]);
  Action* action = created(domain->library().mlx5dv_dr_action_create_modify_header, domain->get(),
                           to_u32(env, arguments[1]), actions.size, reinterpret_cast<__be64*>(actions.data));
  return attach_action(env, *domain, action, held);
}

// drActionCreateDestArray(domain, dests: { dest, reformat? }[]): handle | -errno
napi_value create_dest_array(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(arguments, 0);
  if (!domain) return nullptr;
  const std::uint32_t count = length_of(env, arguments[1]);
  std::vector<mlx5dv_dr_action_dest_attr> attributes(count);
  std::vector<mlx5dv_dr_action_dest_reformat> reformats(count);
  std::vector<mlx5dv_dr_action_dest_attr*> pointers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const napi_value given = element(env, arguments[1], i), reformat = get(env, given, "reformat");
    auto* dest = held.object<Action>(env, get(env, given, "dest"));
    if (!dest) return nullptr;
    if (dest->context() != domain->context()) return failure(env, EINVAL);
    attributes[i].type = MLX5DV_DR_ACTION_DEST;
    attributes[i].dest = dest->get();
    if (!is_undefined(env, reformat)) {
      auto* first = held.object<Action>(env, reformat);
      if (!first) return nullptr;
      if (first->context() != domain->context()) return failure(env, EINVAL);
      reformats[i] = {first->get(), dest->get()};
      attributes[i].type = MLX5DV_DR_ACTION_DEST_REFORMAT;
      attributes[i].dest_reformat = &reformats[i];
    }
    pointers[i] = &attributes[i];
  }
  Action* action =
      created(domain->library().mlx5dv_dr_action_create_dest_array, domain->get(), pointers.size(), pointers.data());
  return attach_action(env, *domain, action, held);
}

}  // namespace

void init_dr_actions(napi_env env, napi_value exports) {
  using Table = mlx5dv_dr_table;
  using DevxObject = mlx5dv_devx_obj;
  export_function<create_plain<&Library::mlx5dv_dr_action_create_drop>>(env, exports, "drActionCreateDrop");
  export_function<create_plain<&Library::mlx5dv_dr_action_create_default_miss>>(env, exports,
                                                                                "drActionCreateDefaultMiss");
  export_function<create_plain<&Library::mlx5dv_dr_action_create_pop_vlan>>(env, exports, "drActionCreatePopVlan");
  export_function<create_tag>(env, exports, "drActionCreateTag");
  export_function<create_numbered<&Library::mlx5dv_dr_action_create_dest_vport>>(env, exports,
                                                                                 "drActionCreateDestVport");
  export_function<create_numbered<&Library::mlx5dv_dr_action_create_dest_ib_port>>(env, exports,
                                                                                   "drActionCreateDestIbPort");
  export_function<create_push_vlan>(env, exports, "drActionCreatePushVlan");
  export_function<create_dest_ibv_qp>(env, exports, "drActionCreateDestIbvQp");
  export_function<create_with<Table, &Library::mlx5dv_dr_action_create_dest_table>>(env, exports,
                                                                                    "drActionCreateDestTable");
  export_function<create_with<Table, &Library::mlx5dv_dr_action_create_dest_root_table, std::uint16_t>>(
      env, exports, "drActionCreateDestRootTable");
  export_function<create_with<DevxObject, &Library::mlx5dv_dr_action_create_dest_devx_tir>>(
      env, exports, "drActionCreateDestDevxTir");
  export_function<create_with<DevxObject, &Library::mlx5dv_dr_action_create_flow_counter, std::uint32_t>>(
      env, exports, "drActionCreateFlowCounter");
  export_function<create_packet_reformat>(env, exports, "drActionCreatePacketReformat");
  export_function<create_modify_header>(env, exports, "drActionCreateModifyHeader");
  export_function<create_dest_array>(env, exports, "drActionCreateDestArray");
}

namespace {

// Actions of direct rules with a state of their own: ASO, meters and samplers.

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
