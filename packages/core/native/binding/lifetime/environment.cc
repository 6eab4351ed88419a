#include "binding/lifetime/environment.h"

#include <tuple>

#include "binding/device/library.h"
#include "binding/lifetime/fd_watcher.h"

namespace verbs::core {
namespace {

// Node's loop must be free of our handles before the environment ends; uv_close finishes only in a later turn, so the
// hook is the asynchronous kind and ends with the last of them.
struct Teardown {
  std::shared_ptr<Environment> environment;
  napi_async_cleanup_hook_handle hook = nullptr;
};

void CloseWatchers(napi_async_cleanup_hook_handle hook, void* data) {
  const std::unique_ptr<Teardown> teardown(static_cast<Teardown*>(data));
  // The last closed watcher drops the last reference of `done`.
  const std::shared_ptr<void> done(
      hook, [](void* held) { napi_remove_async_cleanup_hook(static_cast<napi_async_cleanup_hook_handle>(held)); });
  const std::set<FdWatcher*> watchers = teardown->environment->watchers;
  for (FdWatcher* watcher : watchers) watcher->Close(done);
}

// An environment lives on one thread.
thread_local std::weak_ptr<Environment> of_thread;

}  // namespace

std::shared_ptr<Environment> Environment::Create(napi_env env) {
  auto environment = std::make_shared<Environment>();
  environment->env = env;
  if (napi_get_uv_event_loop(env, &environment->loop) != napi_ok) throw Napi::Error::New(env);
  auto teardown = std::make_unique<Teardown>();
  teardown->environment = environment;
  Teardown* data = teardown.get();
  if (napi_add_async_cleanup_hook(env, CloseWatchers, data, &data->hook) != napi_ok) throw Napi::Error::New(env);
  std::ignore = teardown.release();  // CloseWatchers takes it back

  auto* instance = new std::shared_ptr<Environment>(environment);
  const napi_status status = napi_set_instance_data(
      env, instance,
      [](node_api_basic_env, void* held, void*) { delete static_cast<std::shared_ptr<Environment>*>(held); }, nullptr);
  if (status != napi_ok) {
    delete instance;
    throw Napi::Error::New(env);
  }
  of_thread = environment;
  return environment;
}

std::shared_ptr<Environment> Environment::OfThread() { return of_thread.lock(); }

const std::shared_ptr<Environment>& Environment::Of(napi_env env) {
  void* held = nullptr;
  napi_get_instance_data(env, &held);
  return *static_cast<std::shared_ptr<Environment>*>(held);
}

}  // namespace verbs::core
