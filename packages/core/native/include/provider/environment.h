// The state that an addon keeps for one JavaScript environment: the main thread, or one worker.
#pragma once

#include <memory>
#include <set>

#include "provider/napi_setup.h"
#include "provider/readiness_thread.h"

struct uv_loop_s;

namespace verbs::provider {

// An object with handles on Node's loop. They must leave the loop before the environment ends.
class LoopUser {
 public:
  virtual ~LoopUser() = default;
  // Closes the handles. The last handle that is closed drops the last reference to `done`.
  virtual void leave_loop(const std::shared_ptr<void>& done) = 0;
};

// The base of an addon's own state.
struct Environment {
  napi_env env = nullptr;
  uv_loop_s* loop = nullptr;  // null where the host's loop is not libuv's
  std::set<LoopUser*> loop_users;
  std::shared_ptr<ReadinessThread> readiness;  // instead of the loop, once something waits
};

namespace detail {

struct Teardown {
  std::shared_ptr<Environment> environment;
  napi_async_cleanup_hook_handle hook = nullptr;
};

inline void leave_loop(napi_async_cleanup_hook_handle hook, void* data) {
  const std::unique_ptr<Teardown> teardown(static_cast<Teardown*>(data));
  const std::shared_ptr<void> done(
      hook, [](void* held) { napi_remove_async_cleanup_hook(static_cast<napi_async_cleanup_hook_handle>(held)); });
  // A copy: each user removes itself.
  const std::set<LoopUser*> users = teardown->environment->loop_users;
  for (LoopUser* user : users) user->leave_loop(done);
}

inline void end_thread(void* data) {
  const std::unique_ptr<Teardown> teardown(static_cast<Teardown*>(data));
  const std::set<LoopUser*> users = teardown->environment->loop_users;
  for (LoopUser* user : users) user->leave_loop(nullptr);
  if (teardown->environment->readiness != nullptr) teardown->environment->readiness->stop();
}

// The end of the environment. uv_close() completes in a later iteration of the loop, so with a loop the hook is the
// asynchronous kind, which lets the environment end when the last handle is closed. Deno 2.9 frees the handle of such a
// hook twice, and the thread needs none.
inline napi_status add_cleanup_hook(napi_env env, Teardown* teardown) {
  return teardown->environment->loop != nullptr
             ? napi_add_async_cleanup_hook(env, leave_loop, teardown, &teardown->hook)
             : napi_add_env_cleanup_hook(env, end_thread, teardown);
}

// Bun and Deno have symbols of libuv for addons, and end the process when one of uv_poll is called.
inline bool has_foreign_loop(napi_env env) {
  const Napi::HandleScope scope(env);
  const Napi::Value process = Napi::Env(env).Global().Get("process");
  const Napi::Value versions = process.IsObject() ? process.As<Napi::Object>().Get("versions") : process;
  if (!versions.IsObject()) return false;
  return versions.As<Napi::Object>().Has("bun") || versions.As<Napi::Object>().Has("deno");
}

}  // namespace detail

// Creates the State, which derives from Environment, and ties it to `env`.
template <typename State>
std::shared_ptr<State> create_environment(napi_env env) {
  auto state = std::make_shared<State>();
  state->env = env;
  if (!detail::has_foreign_loop(env) && napi_get_uv_event_loop(env, &state->loop) != napi_ok)
    throw Napi::Error::New(env);
  auto teardown = std::make_unique<detail::Teardown>();
  teardown->environment = state;
  if (detail::add_cleanup_hook(env, teardown.get()) != napi_ok) throw Napi::Error::New(env);
  static_cast<void>(teardown.release());  // the hook's now

  auto instance = std::make_unique<std::shared_ptr<State>>(state);
  const napi_status status = napi_set_instance_data(
      env, instance.get(),
      [](node_api_basic_env, void* held, void*) { delete static_cast<std::shared_ptr<State>*>(held); }, nullptr);
  if (status != napi_ok) throw Napi::Error::New(env);
  static_cast<void>(instance.release());  // the environment's now
  return state;
}

template <typename State>
const std::shared_ptr<State>& environment_of(napi_env env) {
  void* held = nullptr;
  napi_get_instance_data(env, &held);
  return *static_cast<std::shared_ptr<State>*>(held);
}

}  // namespace verbs::provider
