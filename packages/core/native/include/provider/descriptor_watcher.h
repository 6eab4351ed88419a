// Calls a JavaScript function when a descriptor is readable: a uv_poll handle on Node's loop, or a thread where the
// host's loop is another one.
#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "provider/environment.h"
#include "provider/readiness_thread.h"

namespace verbs::provider {

// The watcher neither reads nor closes the descriptor. Close the watcher before the descriptor.
class DescriptorWatcher final : public LoopUser, private ReadinessThread::Listener {
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
    if (const int error = environment_->loop != nullptr ? open_poll(fd) : open_thread(fd); error != 0) return error;
    environment_->loop_users.insert(this);
    if (napi_create_reference(env, callback, 1, &callback_) != napi_ok ||
        (poll_ != nullptr && napi_async_init(env, nullptr, Napi::String::New(env, name), &context_) != napi_ok)) {
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
  bool is_open() const { return poll_ != nullptr || number_ != 0; }

  // Each costs system calls, unless the watcher is in that state already. start() returns 0 or an errno.
  int start() {
    if (!is_open() || started_) return 0;
    const int error =
        poll_ != nullptr ? -uv_poll_start(poll_, UV_READABLE, readable) : environment_->readiness->arm(fd_, number_);
    started_ = error == 0;
    hold();
    return error;
  }
  void stop() {
    if (!started_) return;
    started_ = false;
    if (poll_ != nullptr) {
      uv_poll_stop(poll_);
    } else {
      environment_->readiness->disarm(fd_, number_);
    }
    hold();
  }

  // Whether a started watcher keeps the loop alive. By default it does.
  void set_ref(bool ref) {
    ref_ = ref;
    hold();
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
    if (!is_open()) return;
    environment_->loop_users.erase(this);
    started_ = false;
    if (poll_ != nullptr) {
      poll_->data = done == nullptr ? nullptr : new std::shared_ptr<void>(std::move(done));
      uv_close(reinterpret_cast<uv_handle_t*>(poll_), [](uv_handle_t* handle) {
        delete static_cast<std::shared_ptr<void>*>(handle->data);
        delete reinterpret_cast<uv_poll_t*>(handle);
      });
      poll_ = nullptr;
    } else {
      hold();
      environment_->readiness->remove(fd_, number_);
      number_ = 0;
    }
    ref_ = true;
    if (context_ != nullptr) napi_async_destroy(environment_->env, context_);
    if (callback_ != nullptr) napi_delete_reference(environment_->env, callback_);
    context_ = nullptr;
    callback_ = nullptr;
  }
  void leave_loop(const std::shared_ptr<void>& done) override { close(done); }

 private:
  int open_poll(int fd) {
    auto poll = std::make_unique<uv_poll_t>();
    if (const int error = uv_poll_init(environment_->loop, poll.get(), fd); error != 0) return -error;
    poll_ = poll.release();
    poll_->data = this;
    return 0;
  }

  int open_thread(int fd) {
    int error = 0;
    if (environment_->readiness == nullptr) {
      environment_->readiness = ReadinessThread::start(environment_->env, &error);
      if (error != 0) return error;
    }
    fd_ = fd;
    number_ = environment_->readiness->add(fd, *this, &error);
    return error;
  }

  // Of the thread: tells it whether this watcher keeps the loop alive.
  void hold() {
    const bool holds = number_ != 0 && started_ && ref_;
    if (holds == holds_) return;
    holds_ = holds;
    if (holds) {
      environment_->readiness->ref(environment_->env);
    } else {
      environment_->readiness->unref(environment_->env);
    }
  }

  static void readable(uv_poll_t* poll, int status, int) {
    auto* self = static_cast<DescriptorWatcher*>(poll->data);
    // libuv stops the handle of a bad descriptor. JavaScript finds the error in the call that follows.
    if (status < 0) self->stop();
    self->call();
  }

  void on_readable() override {
    if (started_) call();
  }
  void on_done() override {
    if (started_) (void)environment_->readiness->arm(fd_, number_);
  }

  // JavaScript may close and free this watcher meanwhile.
  void call() const {
    napi_env env = environment_->env;
    const Napi::HandleScope scope(env);
    napi_value callback = nullptr;
    napi_value receiver = nullptr;
    if (napi_get_reference_value(env, callback_, &callback) != napi_ok || callback == nullptr) return;
    if (napi_get_global(env, &receiver) != napi_ok) return;
    // What calls on behalf of the thread is a callback already, and Deno 2.9 ends with SIGSEGV at another one.
    const napi_status status = poll_ != nullptr
                                   ? napi_make_callback(env, context_, receiver, callback, 0, nullptr, nullptr)
                                   : napi_call_function(env, receiver, callback, 0, nullptr, nullptr);
    if (status != napi_pending_exception) return;
    napi_value error = nullptr;
    if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
  }

  std::shared_ptr<Environment> environment_;
  uv_poll_t* poll_ = nullptr;
  // Without a handle of the loop: the descriptor, its number at the thread, and whether it holds the loop there.
  int fd_ = -1;
  std::uint64_t number_ = 0;
  bool holds_ = false;
  bool started_ = false;
  bool ref_ = true;
  napi_ref callback_ = nullptr;
  napi_async_context context_ = nullptr;
};

}  // namespace verbs::provider
