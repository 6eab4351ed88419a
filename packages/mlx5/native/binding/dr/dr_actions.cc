// Actions of direct rules. Each is made for a domain, also those that the library makes for none: it says whose library
// is meant.
#include <arpa/inet.h>

#include <tuple>

#include "binding/dr/dr_action.h"

namespace verbs::mlx5::binding {
namespace {

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

}  // namespace verbs::mlx5::binding
