// Setting up and ending a connection.
#include <cerrno>

#include "binding/id.h"
#include "provider/exchange.h"

namespace verbs::rdmacm::binding {
namespace {

// { privateData?, responderResources, initiatorDepth, flowControl, retryCount, rnrRetryCount, srq, qpNum }, for the
// time of a call; nothing stands for the library's defaults.
class ConnParam {
 public:
  ConnParam(napi_env env, napi_value value) : given_(!is_undefined(env, value)) {
    if (!given_) return;
    const auto u8 = [&](const char* name) {
      return static_cast<std::uint8_t>(to_u32(env, provider::get(env, value, name)));
    };
    param_.responder_resources = u8("responderResources");
    param_.initiator_depth = u8("initiatorDepth");
    param_.flow_control = u8("flowControl");
    param_.retry_count = u8("retryCount");
    param_.rnr_retry_count = u8("rnrRetryCount");
    param_.srq = u8("srq");
    param_.qp_num = to_u32(env, provider::get(env, value, "qpNum"));
    // Last: reading a property may run JavaScript.
    const Bytes data = to_bytes(env, provider::get(env, value, "privateData"));
    fits_ = data.size <= 255;
    param_.private_data = data.data;
    param_.private_data_len = static_cast<std::uint8_t>(data.size);
  }
  bool fits() const { return fits_; }
  rdma_conn_param* get() { return given_ ? &param_ : nullptr; }

 private:
  bool given_;
  bool fits_ = true;
  rdma_conn_param param_{};
};

// connect(id, param | undefined), accept(id, param | undefined): 0 | -errno
template <int (*Library::*Call)(rdma_cm_id*, rdma_conn_param*)>
napi_value with_param(const Arguments& arguments) {
  ConnParam param(arguments.env, arguments[1]);
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!param.fits()) return failure(arguments.env, EINVAL);
  errno = 0;
  return failure(arguments.env, error_of((id->library().*Call)(id->get(), param.get())));
}

// disconnect(id), establish(id): 0 | -errno
template <int (*Library::*Call)(rdma_cm_id*)>
napi_value plain(const Arguments& arguments) {
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!(id->library().*Call)) return failure(arguments.env, EOPNOTSUPP);
  errno = 0;
  return failure(arguments.env, error_of((id->library().*Call)(id->get())));
}

// reject(id, privateData | undefined), rejectEce(…): 0 | -errno
template <int (*Library::*Call)(rdma_cm_id*, const void*, std::uint8_t)>
napi_value reject(const Arguments& arguments) {
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!(id->library().*Call)) return failure(arguments.env, EOPNOTSUPP);
  const Bytes data = to_bytes(arguments.env, arguments[1]);
  if (data.size > 255) return failure(arguments.env, EINVAL);
  errno = 0;
  return failure(arguments.env, error_of((id->library().*Call)(id->get(), data.data, data.size)));
}

// listen(id, backlog): 0 | -errno
napi_value listen(const Arguments& arguments) {
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const auto backlog = static_cast<int>(to_integer(arguments.env, arguments[1]));
  errno = 0;
  return failure(arguments.env, error_of(id->library().rdma_listen(id->get(), backlog)));
}

// notify(id, eventType): 0 | -errno
napi_value notify(const Arguments& arguments) {
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  const auto event = static_cast<ibv_event_type>(to_u32(arguments.env, arguments[1]));
  errno = 0;
  return failure(arguments.env, error_of(id->library().rdma_notify(id->get(), event)));
}

// setLocalEce(id, vendorId, options): 0 | -errno; getRemoteEce(id): { vendorId, options } | -errno
napi_value set_local_ece(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!id->library().rdma_set_local_ece) return failure(env, EOPNOTSUPP);
  ibv_ece ece{};
  ece.vendor_id = to_u32(env, arguments[1]);
  ece.options = to_u32(env, arguments[2]);
  errno = 0;
  return failure(env, error_of(id->library().rdma_set_local_ece(id->get(), &ece)));
}

napi_value get_remote_ece(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!id->library().rdma_get_remote_ece) return failure(env, EOPNOTSUPP);
  Filled<ibv_ece> ece;
  errno = 0;
  const int error = ece.after(error_of(id->library().rdma_get_remote_ece(id->get(), ece.get())));
  if (error != 0) return failure(env, error);
  napi_value result = object(env);
  set(env, result, "vendorId", number(env, ece->vendor_id));
  set(env, result, "options", number(env, ece->options));
  return result;
}

}  // namespace

void init_connection(napi_env env, napi_value exports) {
  export_guarded<with_param<&Library::rdma_connect>>(env, exports, "connect");
  export_guarded<with_param<&Library::rdma_accept>>(env, exports, "accept");
  export_guarded<plain<&Library::rdma_disconnect>>(env, exports, "disconnect");
  export_guarded<plain<&Library::rdma_establish>>(env, exports, "establish");
  export_guarded<reject<&Library::rdma_reject>>(env, exports, "reject");
  export_guarded<reject<&Library::rdma_reject_ece>>(env, exports, "rejectEce");
  export_guarded<listen>(env, exports, "listen");
  export_guarded<notify>(env, exports, "notify");
  export_guarded<set_local_ece>(env, exports, "setLocalEce");
  export_guarded<get_remote_ece>(env, exports, "getRemoteEce");
}

}  // namespace verbs::rdmacm::binding
