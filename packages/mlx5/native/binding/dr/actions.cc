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
inline Napi::Value attach_action(Napi::Env env, const Object<mlx5dv_dr_domain>& domain, mlx5dv_dr_action* action,
                                 const Held& held) {
  return attach(env, domain.library(), domain.context(), action, destroy_dr_action, held.parents());
}

// Actions of direct rules. Each is made for a domain, also those that the library makes for none: it says whose library
// is meant.

using Domain = Object<mlx5dv_dr_domain>;
using Action = mlx5dv_dr_action;

// drActionCreateDrop(domain), …DefaultMiss(domain), …PopVlan(domain): handle | -errno
template <Action* (*Library::*Function)()>
Napi::Value create_plain(const Napi::CallbackInfo& info) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  return attach_action(info.Env(), *domain, created(domain->library().*Function), held);
}

// drActionCreateTag(domain, tagValue): handle | -errno
Napi::Value create_tag(const Napi::CallbackInfo& info) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  Action* action = created(domain->library().mlx5dv_dr_action_create_tag, number_of<std::uint32_t>(info[1]));
  return attach_action(info.Env(), *domain, action, held);
}

// drActionCreateDestVport(domain, vport), …DestIbPort(domain, ibPort), …PushVlan(domain, vlanHdr): handle | -errno
template <Action* (*Library::*Function)(mlx5dv_dr_domain*, std::uint32_t)>
Napi::Value create_numbered(const Napi::CallbackInfo& info) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  Action* action = created(domain->library().*Function, domain->get(), number_of<std::uint32_t>(info[1]));
  return attach_action(info.Env(), *domain, action, held);
}
Napi::Value create_push_vlan(const Napi::CallbackInfo& info) {
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const __be32 header = htonl(number_of<std::uint32_t>(info[1]));
  return attach_action(info.Env(), *domain,
                       created(domain->library().mlx5dv_dr_action_create_push_vlan, domain->get(), header), held);
}

// drActionCreateDestIbvQp(domain, qp): handle | -errno
Napi::Value create_dest_ibv_qp(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  auto* qp = held.verbs<ibv_qp>(info, 1);
  if (qp->context != domain->context()) return failure(env, EINVAL);
  return attach_action(env, *domain, created(domain->library().mlx5dv_dr_action_create_dest_ibv_qp, qp), held);
}

// drActionCreateDestTable(domain, table), …DestDevxTir(domain, object): handle | -errno; further arguments are numbers.
template <typename T, auto Function, typename... Numbers>
Napi::Value create_with(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  auto* object = held.object<T>(info, 1);
  if (object->context() != domain->context()) return failure(env, EINVAL);
  std::size_t next = 2;
  // Braces evaluate in order.
  const std::tuple<Numbers...> numbers{number_of<Numbers>(info[next++])...};
  Action* action =
      std::apply([&](auto... given) { return created(domain->library().*Function, object->get(), given...); }, numbers);
  return attach_action(env, *domain, action, held);
}

// drActionCreatePacketReformat(domain, flags, reformatType, data | undefined): handle | -errno
Napi::Value create_packet_reformat(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const auto type = number_of<mlx5dv_flow_action_packet_reformat_type>(info[2]);
  const Bytes data = bytes_of(info[3]);
  Action* action = created(domain->library().mlx5dv_dr_action_create_packet_reformat, domain->get(),
                           number_of<std::uint32_t>(info[1]), type, data.size, static_cast<void*>(data.data));
  return attach_action(env, *domain, action, held);
}

// drActionCreateModifyHeader(domain, flags, actions: BigUint64Array in the device's byte order): handle | -errno
Napi::Value create_modify_header(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const Bytes actions = bytes_of(info[2]);
  Action* action = created(domain->library().mlx5dv_dr_action_create_modify_header, domain->get(),
                           number_of<std::uint32_t>(info[1]), actions.size, reinterpret_cast<__be64*>(actions.data));
  return attach_action(env, *domain, action, held);
}

// drActionCreateDestArray(domain, dests: { dest, reformat? }[]): handle | -errno
Napi::Value create_dest_array(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const Napi::Array list = list_of(info[1]);
  const std::uint32_t count = list.Length();
  std::vector<mlx5dv_dr_action_dest_attr> attributes(count);
  std::vector<mlx5dv_dr_action_dest_reformat> reformats(count);
  std::vector<mlx5dv_dr_action_dest_attr*> pointers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Fields given(list.Get(i));
    const Napi::Value reformat = given["reformat"];
    auto* dest = held.object<Action>(given["dest"]);
    if (dest->context() != domain->context()) return failure(env, EINVAL);
    attributes[i].type = MLX5DV_DR_ACTION_DEST;
    attributes[i].dest = dest->get();
    if (!reformat.IsUndefined()) {
      auto* first = held.object<Action>(reformat);
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

void init_dr_actions(Napi::Object exports) {
  using Table = mlx5dv_dr_table;
  using DevxObject = mlx5dv_devx_obj;
  export_function<create_plain<&Library::mlx5dv_dr_action_create_drop>>(exports, "drActionCreateDrop");
  export_function<create_plain<&Library::mlx5dv_dr_action_create_default_miss>>(exports, "drActionCreateDefaultMiss");
  export_function<create_plain<&Library::mlx5dv_dr_action_create_pop_vlan>>(exports, "drActionCreatePopVlan");
  export_function<create_tag>(exports, "drActionCreateTag");
  export_function<create_numbered<&Library::mlx5dv_dr_action_create_dest_vport>>(exports, "drActionCreateDestVport");
  export_function<create_numbered<&Library::mlx5dv_dr_action_create_dest_ib_port>>(exports, "drActionCreateDestIbPort");
  export_function<create_push_vlan>(exports, "drActionCreatePushVlan");
  export_function<create_dest_ibv_qp>(exports, "drActionCreateDestIbvQp");
  export_function<create_with<Table, &Library::mlx5dv_dr_action_create_dest_table>>(exports, "drActionCreateDestTable");
  export_function<create_with<Table, &Library::mlx5dv_dr_action_create_dest_root_table, std::uint16_t>>(
      exports, "drActionCreateDestRootTable");
  export_function<create_with<DevxObject, &Library::mlx5dv_dr_action_create_dest_devx_tir>>(
      exports, "drActionCreateDestDevxTir");
  export_function<create_with<DevxObject, &Library::mlx5dv_dr_action_create_flow_counter, std::uint32_t>>(
      exports, "drActionCreateFlowCounter");
  export_function<create_packet_reformat>(exports, "drActionCreatePacketReformat");
  export_function<create_modify_header>(exports, "drActionCreateModifyHeader");
  export_function<create_dest_array>(exports, "drActionCreateDestArray");
}

namespace {

// Actions of direct rules with a state of their own: ASO, meters and samplers.

using Domain = Object<mlx5dv_dr_domain>;
using Action = mlx5dv_dr_action;

// drActionCreateAso(domain, object, offset, flags, returnRegC): handle | -errno
Napi::Value create_aso(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  auto* object = held.object<mlx5dv_devx_obj>(info, 1);
  if (object->context() != domain->context()) return failure(env, EINVAL);
  Action* action =
      created(domain->library().mlx5dv_dr_action_create_aso, domain->get(), object->get(),
              number_of<std::uint32_t>(info[2]), number_of<std::uint32_t>(info[3]), number_of<std::uint8_t>(info[4]));
  return attach_action(env, *domain, action, held);
}

// drActionModifyAso(action, offset, flags, returnRegC): 0 | -errno
Napi::Value modify_aso(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* action = held.object<Action>(info, 0);
  return failure(env,
                 status(action->library().mlx5dv_dr_action_modify_aso, action->get(), number_of<std::uint32_t>(info[1]),
                        number_of<std::uint32_t>(info[2]), number_of<std::uint8_t>(info[3])));
}

// Fills in { nextTable, active, regCIndex, parameter }. The context of the table.
const ibv_context* read_meter(const Fields& given, Held* held, mlx5dv_dr_flow_meter_attr* attr) {
  auto* table = held->object<mlx5dv_dr_table>(given["nextTable"]);
  attr->next_table = table->get();
  attr->active = given.number<std::uint8_t>("active");
  attr->reg_c_index = given.number<std::uint8_t>("regCIndex");
  // Last, since a getter may take the memory of a buffer away.
  const Bytes parameter = given.bytes("parameter");
  attr->flow_meter_parameter_sz = parameter.size;
  attr->flow_meter_parameter = parameter.data;
  return table->context();
}

// drActionCreateFlowMeter(domain, attr): handle | -errno
Napi::Value create_flow_meter(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  mlx5dv_dr_flow_meter_attr attr{};
  if (read_meter(Fields(info[1]), &held, &attr) != domain->context()) return failure(env, EINVAL);
  return attach_action(env, *domain, created(domain->library().mlx5dv_dr_action_create_flow_meter, &attr), held);
}

// drActionModifyFlowMeter(action, attr, modifyFieldSelect: bigint in the device's byte order): 0 | -errno. The table
// must be the action's own: it keeps no other.
Napi::Value modify_flow_meter(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* action = held.object<Action>(info, 0);
  mlx5dv_dr_flow_meter_attr attr{};
  if (read_meter(Fields(info[1]), &held, &attr) != action->context()) return failure(env, EINVAL);
  return failure(env, status(action->library().mlx5dv_dr_action_modify_flow_meter, action->get(), &attr,
                             static_cast<__be64>(u64_of(info[2]))));
}

// drActionCreateFlowSampler(domain, { sampleRatio, defaultNextTable, sampleActions, action }): handle | -errno
Napi::Value create_flow_sampler(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 0);
  const Fields given(info[1]);
  const Napi::Array list = given.list("sampleActions");
  auto* table = held.object<mlx5dv_dr_table>(given["defaultNextTable"]);
  if (table->context() != domain->context()) return failure(env, EINVAL);
  std::vector<Action*> actions(list.Length());
  for (std::uint32_t i = 0; i < actions.size(); ++i) {
    auto* action = held.object<Action>(list.Get(i));
    if (action->context() != domain->context()) return failure(env, EINVAL);
    actions[i] = action->get();
  }
  mlx5dv_dr_flow_sampler_attr attr{};
  attr.sample_ratio = given.u32("sampleRatio");
  attr.default_next_table = table->get();
  attr.num_sample_actions = static_cast<std::uint32_t>(actions.size());
  attr.sample_actions = actions.data();
  attr.action = static_cast<__be64>(given.u64("action"));
  return attach_action(env, *domain, created(domain->library().mlx5dv_dr_action_create_flow_sampler, &attr), held);
}

// Domains may be of another context than the object, but not of another library, which would take their pointers for
// its own.
bool share_library(const Object<mlx5dv_devx_obj>& object, const Domain& domain) {
  return &object.library() == &domain.library();
}

// drAsoOtherDomainLink(object, peerDomain, domain, flags, returnRegC): 0 | -errno
Napi::Value aso_link(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(info, 0);
  Domain* peer = held.object<mlx5dv_dr_domain>(info, 1);
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 2);
  if (!share_library(*object, *peer) || !share_library(*object, *domain)) return failure(env, EINVAL);
  return failure(env, status(object->library().mlx5dv_dr_aso_other_domain_link, object->get(), peer->get(),
                             domain->get(), number_of<std::uint32_t>(info[3]), number_of<std::uint8_t>(info[4])));
}

// drAsoOtherDomainUnlink(object, domain): 0 | -errno
Napi::Value aso_unlink(const Napi::CallbackInfo& info) {
  Held held;
  auto* object = held.object<mlx5dv_devx_obj>(info, 0);
  Domain* domain = held.object<mlx5dv_dr_domain>(info, 1);
  if (!share_library(*object, *domain)) return failure(info.Env(), EINVAL);
  return failure(info.Env(), status(object->library().mlx5dv_dr_aso_other_domain_unlink, object->get(), domain->get()));
}

}  // namespace

void init_dr_meters(Napi::Object exports) {
  export_function<create_aso>(exports, "drActionCreateAso");
  export_function<modify_aso>(exports, "drActionModifyAso");
  export_function<create_flow_meter>(exports, "drActionCreateFlowMeter");
  export_function<modify_flow_meter>(exports, "drActionModifyFlowMeter");
  export_function<create_flow_sampler>(exports, "drActionCreateFlowSampler");
  export_function<aso_link>(exports, "drAsoOtherDomainLink");
  export_function<aso_unlink>(exports, "drAsoOtherDomainUnlink");
}

}  // namespace verbs::mlx5::binding
