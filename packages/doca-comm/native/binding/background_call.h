// A call of DOCA that blocks, on a thread of libuv's pool. Its result settles a promise.
#pragma once

#include <functional>

#include "binding/endpoint.h"

namespace verbs::doca_comm::binding {

class BackgroundCall {
 public:
  // On the other thread. It must not use JavaScript, nor an Endpoint's own members.
  using Work = std::function<doca_error_t()>;
  // Afterwards, on the thread of the environment: the number that the promise gets. Called also if the environment
  // ends.
  using Result = std::function<double(doca_error_t)>;

  // The promise. The endpoint, argument 0 of the call, lives until the promise is settled.
  static Napi::Value start(const Napi::CallbackInfo& info, Endpoint& endpoint, Work work, Result result);

 private:
  BackgroundCall(Endpoint& endpoint, Work work, Result result)
      : endpoint_(endpoint), work_(std::move(work)), result_(std::move(result)) {}
  static void execute(napi_env env, void* data);
  static void complete(napi_env env, napi_status status, void* data);

  Endpoint& endpoint_;
  Work work_;
  Result result_;
  doca_error_t error_ = DOCA_ERROR_UNEXPECTED;
  napi_async_work task_ = nullptr;
  napi_deferred deferred_ = nullptr;
  napi_ref kept_ = nullptr;
};

}  // namespace verbs::doca_comm::binding
