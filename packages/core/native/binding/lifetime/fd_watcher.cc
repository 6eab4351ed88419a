#include "binding/lifetime/fd_watcher.h"

#include <uv.h>

namespace verbs::core {

FdWatcher::FdWatcher(std::shared_ptr<Environment> environment) : environment_(std::move(environment)) {}

FdWatcher::~FdWatcher() { Close(); }

int FdWatcher::Start(int fd, napi_value callback) {
  napi_env env = environment_->env;
  const Napi::HandleScope scope(env);
  Close();
  auto poll = std::make_unique<uv_poll_t>();
  if (const int error = uv_poll_init(environment_->loop, poll.get(), fd); error != 0) return -error;
  poll_ = poll.release();
  poll_->data = this;
  environment_->watchers.insert(this);
  uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
  if (napi_create_reference(env, callback, 1, &callback_) != napi_ok ||
      napi_async_init(env, nullptr, Napi::String::New(env, "verbs.FdWatcher"), &async_context_) != napi_ok) {
    Close();
    throw Napi::Error::New(env);
  }
  if (const int error = uv_poll_start(poll_, UV_READABLE, Readable); error != 0) {
    Close();
    return -error;
  }
  return 0;
}

void FdWatcher::SetRef(bool ref) {
  if (poll_ == nullptr) return;
  auto* handle = reinterpret_cast<uv_handle_t*>(poll_);
  if (ref) {
    uv_ref(handle);
  } else {
    uv_unref(handle);
  }
}

void FdWatcher::Close(std::shared_ptr<void> done) {
  if (poll_ == nullptr) return;
  environment_->watchers.erase(this);
  poll_->data = done == nullptr ? nullptr : new std::shared_ptr<void>(std::move(done));
  uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
    delete static_cast<std::shared_ptr<void>*>(handle->data);
    delete reinterpret_cast<uv_poll_t*>(handle);
  });
  poll_ = nullptr;
  if (async_context_ != nullptr) napi_async_destroy(environment_->env, async_context_);
  if (callback_ != nullptr) napi_delete_reference(environment_->env, callback_);
  async_context_ = nullptr;
  callback_ = nullptr;
}

void FdWatcher::Readable(uv_poll_s* handle, int, int) {
  auto* self = static_cast<FdWatcher*>(handle->data);
  napi_env env = self->environment_->env;
  const Napi::HandleScope scope(env);
  napi_value callback = nullptr;
  napi_value receiver = nullptr;
  if (napi_get_reference_value(env, self->callback_, &callback) != napi_ok || callback == nullptr) return;
  if (napi_get_global(env, &receiver) != napi_ok) return;
  // An error status means the descriptor went bad: JavaScript finds out by the read that follows.
  if (napi_make_callback(env, self->async_context_, receiver, callback, 0, nullptr, nullptr) !=
      napi_pending_exception) {
    return;
  }
  napi_value error = nullptr;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
}

}  // namespace verbs::core
