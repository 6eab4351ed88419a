#include "binding/background_call.h"

#include <memory>
#include <utility>

namespace verbs::doca_comm::binding {

Napi::Value BackgroundCall::start(const Napi::CallbackInfo& info, Endpoint& endpoint, Work work, Result result) {
  napi_env env = info.Env();
  std::unique_ptr<BackgroundCall> call(new BackgroundCall(endpoint, std::move(work), std::move(result)));
  napi_value promise = nullptr;
  const Napi::String name = Napi::String::New(env, "verbs.DocaCall");
  if (napi_create_reference(env, info[0], 1, &call->kept_) != napi_ok) throw Napi::Error::New(env);
  if (napi_create_promise(env, &call->deferred_, &promise) != napi_ok ||
      napi_create_async_work(env, nullptr, name, execute, complete, call.get(), &call->task_) != napi_ok ||
      napi_queue_async_work(env, call->task_) != napi_ok) {
    const Napi::Error failure = Napi::Error::New(env);
    if (call->task_) napi_delete_async_work(env, call->task_);
    napi_delete_reference(env, call->kept_);
    throw failure;
  }
  endpoint.begin_call();
  static_cast<void>(call.release());  // complete() has it now
  return {env, promise};
}

void BackgroundCall::execute(napi_env, void* data) {
  auto* call = static_cast<BackgroundCall*>(data);
  call->error_ = call->work_();
}

// Where an environment ends, the calls of Node-API fail, and nobody waits for the promise.
void BackgroundCall::complete(napi_env env, napi_status, void* data) {
  const std::unique_ptr<BackgroundCall> call(static_cast<BackgroundCall*>(data));
  const Napi::HandleScope scope(env);
  const double number = call->result_(call->error_);
  call->endpoint_.end_call();
  napi_value value = nullptr;
  if (napi_create_double(env, number, &value) == napi_ok) napi_resolve_deferred(env, call->deferred_, value);
  napi_delete_reference(env, call->kept_);
  napi_delete_async_work(env, call->task_);
}

}  // namespace verbs::doca_comm::binding
