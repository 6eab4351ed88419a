// Calls a JavaScript function when a descriptor is readable: a uv_poll handle on Node's loop.
#pragma once

#include <uv.h>

#include <memory>
#include <utility>

#include "provider/environment.h"

namespace verbs::provider {

// The watcher neither reads nor closes the descriptor. Close the watcher before the descriptor.
class DescriptorWatcher final : public LoopUser {
 public:
  DescriptorWatcher() = default;
  ~DescriptorWatcher() override { close(); }
  DescriptorWatcher(const DescriptorWatcher&) = delete;
  DescriptorWatcher& operator=(const DescriptorWatcher&) = delete;

  // Watches another descriptor from now on, not before start(). `callback` runs in each iteration of the loop that
  // finds the descriptor readable (level-triggered). `name` is the asynchronous resource's, for async_hooks. 0 or an
  // errno.
  int open(const std::shared_ptr<Environment>& environment, int fd, napi_value callback, const char* name) {
    close();
    environment_ = environment;
    napi_env env = environment_->env;
    const Napi::HandleScope scope(env);
    auto poll = std::make_unique<uv_poll_t>();
    if (const int error = uv_poll_init(environment_->loop, poll.get(), fd); error != 0) return -error;
    poll_ = poll.release();
    poll_->data = this;
    environment_->loop_users.insert(this);
    if (napi_create_reference(env, callback, 1, &callback_) != napi_ok ||
        napi_async_init(env, nullptr, Napi::String::New(env, name), &context_) != napi_ok) {
      close();
      throw Napi::Error::New(env);
    }
    return 0;
  }
  // open() and start(), without keeping the loop alive.
  int watch(const std::shared_ptr<Environment>& environment, int fd, napi_value callback, const char* name) {
    if (const int error = open(environment, fd, callback, name); error != 0) return error;
    set_ref(false);
    const int error = start();
    if (error != 0) close();
    return error;
  }
  bool is_open() const { return poll_ != nullptr; }

  // Each costs system calls, unless the watcher is in that state already. start() returns 0 or an errno.
  int start() {
    if (poll_ == nullptr || started_) return 0;
    const int error = uv_poll_start(poll_, UV_READABLE, readable);
    started_ = error == 0;
    return -error;
  }
  void stop() {
    if (started_) uv_poll_stop(poll_);
    started_ = false;
  }

  // Whether a started watcher keeps the loop alive. By default it does.
  void set_ref(bool ref) {
    if (poll_ == nullptr) return;
    auto* handle = reinterpret_cast<uv_handle_t*>(poll_);
    if (ref) {
      uv_ref(handle);
    } else {
      uv_unref(handle);
    }
  }

  // Drops `done` when the loop has closed the handle.
  void close(std::shared_ptr<void> done = nullptr) {
    if (poll_ == nullptr) return;
    environment_->loop_users.erase(this);
    poll_->data = done == nullptr ? nullptr : new std::shared_ptr<void>(std::move(done));
    uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
      delete static_cast<std::shared_ptr<void>*>(handle->data);
      delete reinterpret_cast<uv_poll_t*>(handle);
    });
    poll_ = nullptr;
    started_ = false;
    if (context_ != nullptr) napi_async_destroy(environment_->env, context_);
    if (callback_ != nullptr) napi_delete_reference(environment_->env, callback_);
    context_ = nullptr;
    callback_ = nullptr;
  }
  void leave_loop(const std::shared_ptr<void>& done) override { close(done); }

 private:
  static void readable(uv_poll_t* poll, int status, int) {
    auto* self = static_cast<DescriptorWatcher*>(poll->data);
    // libuv stops the handle of a bad descriptor. JavaScript finds the error in the call that follows.
    if (status < 0) self->stop();
    napi_env env = self->environment_->env;
    const Napi::HandleScope scope(env);
    napi_value callback = nullptr;
    napi_value receiver = nullptr;
    if (napi_get_reference_value(env, self->callback_, &callback) != napi_ok || callback == nullptr) return;
    if (napi_get_global(env, &receiver) != napi_ok) return;
    if (napi_make_callback(env, self->context_, receiver, callback, 0, nullptr, nullptr) != napi_pending_exception) {
      return;
    }
    napi_value error = nullptr;
    if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
  }

  std::shared_ptr<Environment> environment_;
  uv_poll_t* poll_ = nullptr;
  bool started_ = false;
  napi_ref callback_ = nullptr;
  napi_async_context context_ = nullptr;
};

}  // namespace verbs::provider
