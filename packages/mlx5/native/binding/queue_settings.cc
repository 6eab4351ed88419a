// Settings and queries of queue pairs and address handles.
#include "binding/objects.h"

namespace verbs::mlx5::binding {
namespace {

// queryQpLagPort(library, qp): { portNum, activePortNum } | -errno
napi_value query_lag_port(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  std::uint8_t port = 0, active = 0;
  if (const int error = status(qp.library().mlx5dv_query_qp_lag_port, qp.get(), &port, &active))
    return failure(env, error);
  napi_value result = object(env);
  set(env, result, "portNum", number(env, port));
  set(env, result, "activePortNum", number(env, active));
  return result;
}

// modifyQpLagPort(library, qp, portNum), modifyQpUdpSport(library, qp, udpSport), dciStreamIdReset(library, qp,
// streamId): 0 | -errno
template <typename T, int (*Library::*Function)(ibv_qp*, T)>
napi_value modify(const Arguments& arguments) {
  Subject<ibv_qp> qp(arguments);
  if (!qp) return nullptr;
  return failure(arguments.env,
                 status(qp.library().*Function, qp.get(), static_cast<T>(to_u32(arguments.env, arguments[2]))));
}

// mapAhToQp(library, ah, qpNum): 0 | -errno
napi_value map_ah_to_qp(const Arguments& arguments) {
  Subject<ibv_ah> ah(arguments);
  if (!ah) return nullptr;
  return failure(arguments.env,
                 status(ah.library().mlx5dv_map_ah_to_qp, ah.get(), to_u32(arguments.env, arguments[2])));
}

}  // namespace

void init_queue_settings(napi_env env, napi_value exports) {
  export_function<query_lag_port>(env, exports, "queryQpLagPort");
  export_function<modify<std::uint8_t, &Library::mlx5dv_modify_qp_lag_port>>(env, exports, "modifyQpLagPort");
  export_function<modify<std::uint16_t, &Library::mlx5dv_modify_qp_udp_sport>>(env, exports, "modifyQpUdpSport");
  export_function<modify<std::uint16_t, &Library::mlx5dv_dci_stream_id_reset>>(env, exports, "dciStreamIdReset");
  export_function<map_ah_to_qp>(env, exports, "mapAhToQp");
}

}  // namespace verbs::mlx5::binding
