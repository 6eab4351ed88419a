// The flow actions of the verbs: packet reformat and modify header.
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

int destroy_action(const Library&, ibv_flow_action* action) { return std::abs(ibv_destroy_flow_action(action)); }

// createFlowActionPacketReformat(library, context, data | undefined, reformatType, ftType): handle | -errno
napi_value create_flow_packet_reformat(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes data = to_bytes(env, arguments[2]);
  // An empty array is a buffer of no bytes. To the library that differs from no buffer.
  char nothing = 0;
  void* buffer = is_undefined(env, arguments[2]) || data.data ? data.data : static_cast<void*>(&nothing);
  const auto type = static_cast<mlx5dv_flow_action_packet_reformat_type>(to_u32(env, arguments[3]));
  const auto table = static_cast<mlx5dv_flow_table_type>(to_u32(env, arguments[4]));
  ibv_flow_action* action = created(context.library().mlx5dv_create_flow_action_packet_reformat, context.get(),
                                    data.size, buffer, type, table);
  return context.attach(env, action, destroy_action);
}

// createFlowActionModifyHeader(library, context, actions: BigUint64Array in the device's byte order, ftType):
// handle | -errno
napi_value create_flow_modify_header(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  const Bytes actions = to_bytes(env, arguments[2]);
  const auto table = static_cast<mlx5dv_flow_table_type>(to_u32(env, arguments[3]));
  ibv_flow_action* action = created(context.library().mlx5dv_create_flow_action_modify_header, context.get(),
                                    actions.size, reinterpret_cast<std::uint64_t*>(actions.data), table);
  return context.attach(env, action, destroy_action);
}

}  // namespace

void init_flow_actions(napi_env env, napi_value exports) {
  export_function<create_flow_packet_reformat>(env, exports, "createFlowActionPacketReformat");
  export_function<create_flow_modify_header>(env, exports, "createFlowActionModifyHeader");
}

}  // namespace verbs::mlx5::binding
