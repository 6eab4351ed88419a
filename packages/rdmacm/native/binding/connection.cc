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
  explicit ConnParam(Napi::Value value) : given_(!value.IsUndefined()) {
    if (!given_) return;
    const Fields given(value);
    param_.responder_resources = given.number<std::uint8_t>("responderResources");
    param_.initiator_depth = given.number<std::uint8_t>("initiatorDepth");
    param_.flow_control = given.number<std::uint8_t>("flowControl");
    param_.retry_count = given.number<std::uint8_t>("retryCount");
    param_.rnr_retry_count = given.number<std::uint8_t>("rnrRetryCount");
    param_.srq = given.number<std::uint8_t>("srq");
    param_.qp_num = given.u32("qpNum");
    // Last: reading a property may run JavaScript.
    const Bytes data = given.bytes("privateData");
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
Napi::Value with_param(const Napi::CallbackInfo& info) {
  ConnParam param(info[1]);
  const auto id = take<Id>(info, 0);
  if (!param.fits()) return failure(info.Env(), EINVAL);
  errno = 0;
  return failure(info.Env(), error_of((id->library().*Call)(id->get(), param.get())));
}

// disconnect(id), establish(id): 0 | -errno
template <int (*Library::*Call)(rdma_cm_id*)>
Napi::Value plain(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  if (!(id->library().*Call)) return failure(info.Env(), EOPNOTSUPP);
  errno = 0;
  return failure(info.Env(), error_of((id->library().*Call)(id->get())));
}

// reject(id, privateData | undefined), rejectEce(…): 0 | -errno
template <int (*Library::*Call)(rdma_cm_id*, const void*, std::uint8_t)>
Napi::Value reject(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  if (!(id->library().*Call)) return failure(info.Env(), EOPNOTSUPP);
  const Bytes data = bytes_of(info[1]);
  if (data.size > 255) return failure(info.Env(), EINVAL);
  errno = 0;
  return failure(info.Env(), error_of((id->library().*Call)(id->get(), data.data, data.size)));
}

// listen(id, backlog): 0 | -errno
Napi::Value listen(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  const auto backlog = number_of<int>(info[1]);
  errno = 0;
  return failure(info.Env(), error_of(id->library().rdma_listen(id->get(), backlog)));
}

// notify(id, eventType): 0 | -errno
Napi::Value notify(const Napi::CallbackInfo& info) {
  const auto id = take<Id>(info, 0);
  const auto event = number_of<ibv_event_type>(info[1]);
  errno = 0;
  return failure(info.Env(), error_of(id->library().rdma_notify(id->get(), event)));
}

// setLocalEce(id, vendorId, options): 0 | -errno; getRemoteEce(id): { vendorId, options } | -errno
Napi::Value set_local_ece(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  if (!id->library().rdma_set_local_ece) return failure(env, EOPNOTSUPP);
  ibv_ece ece{};
  ece.vendor_id = number_of<std::uint32_t>(info[1]);
  ece.options = number_of<std::uint32_t>(info[2]);
  errno = 0;
  return failure(env, error_of(id->library().rdma_set_local_ece(id->get(), &ece)));
}

Napi::Value get_remote_ece(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  if (!id->library().rdma_get_remote_ece) return failure(env, EOPNOTSUPP);
  Filled<ibv_ece> ece;
  errno = 0;
  const int error = ece.after(error_of(id->library().rdma_get_remote_ece(id->get(), ece.get())));
  if (error != 0) return failure(env, error);
  Napi::Object result = Napi::Object::New(env);
  result.Set("vendorId", ece->vendor_id);
  result.Set("options", ece->options);
  return result;
}

}  // namespace

void init_connection(Napi::Object exports) {
  export_function<with_param<&Library::rdma_connect>>(exports, "connect");
  export_function<with_param<&Library::rdma_accept>>(exports, "accept");
  export_function<plain<&Library::rdma_disconnect>>(exports, "disconnect");
  export_function<plain<&Library::rdma_establish>>(exports, "establish");
  export_function<reject<&Library::rdma_reject>>(exports, "reject");
  export_function<reject<&Library::rdma_reject_ece>>(exports, "rejectEce");
  export_function<listen>(exports, "listen");
  export_function<notify>(exports, "notify");
  export_function<set_local_ece>(exports, "setLocalEce");
  export_function<get_remote_ece>(exports, "getRemoteEce");
}

}  // namespace verbs::rdmacm::binding
