#include "binding/watcher.h"

#include <uv.h>

namespace verbs::doca_comm {

int Watcher::open(const std::shared_ptr<Environment>& environment, int fd, napi_value callback) {
  environment_ = environment;
  auto poll = std::make_unique<uv_poll_t>();
  if (const int error = uv_poll_init(environment->loop, poll.get(), fd); error != 0) return -error;
  poll_ = poll.release();
  poll_->data = this;
  if (napi_create_reference(environment->env, callback, 1, &callback_) != napi_ok ||
      napi_async_init(environment->env, nullptr, Napi::String::New(environment->env, "verbs.DocaEvent"), &context_) !=
          napi_ok) {
    close(nullptr);
    throw Napi::Error::New(environment->env);
  }
  return 0;
}

void Watcher::start() {
  if (!poll_) return;
  uv_ref(reinterpret_cast<uv_handle_t*>(poll_));
  if (!started_) started_ = uv_poll_start(poll_, UV_READABLE, readable) == 0;
}

void Watcher::stop() {
  if (poll_ && started_) uv_poll_stop(poll_);
  started_ = false;
}

void Watcher::rest() {
  if (poll_) uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
}

void Watcher::close(std::shared_ptr<void> done) {
  if (!poll_) return;
  poll_->data = done ? new std::shared_ptr<void>(std::move(done)) : nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
    delete static_cast<std::shared_ptr<void>*>(handle->data);
    delete reinterpret_cast<uv_poll_t*>(handle);
  });
  poll_ = nullptr;
  started_ = false;
  if (context_) napi_async_destroy(environment_->env, context_);
  if (callback_) napi_delete_reference(environment_->env, callback_);
  context_ = nullptr;
  callback_ = nullptr;
}

void Watcher::readable(uv_poll_s* poll, int status, int) {
  auto* self = static_cast<Watcher*>(poll->data);
  // A descriptor that went bad would call without end. What happened to it, the next call of the library tells.
  if (status < 0) self->stop();
  napi_env env = self->environment_->env;
  const Napi::HandleScope scope(env);
  napi_value callback = nullptr, receiver = nullptr, error = nullptr;
  if (napi_get_reference_value(env, self->callback_, &callback) != napi_ok || !callback) return;
  if (napi_get_global(env, &receiver) != napi_ok) return;
  if (napi_make_callback(env, self->context_, receiver, callback, 0, nullptr, nullptr) != napi_pending_exception)
    return;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
}

}  // namespace verbs::doca_comm
