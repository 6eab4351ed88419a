#include "binding/environment.h"

#include "binding/endpoint.h"

namespace verbs::doca_comm {

namespace {

struct Teardown {
  std::shared_ptr<Environment> environment;
  napi_async_cleanup_hook_handle hook = nullptr;
};

// The loop lets go of a handle only in a later turn, so the hook is the asynchronous kind and ends with the last.
void close_endpoints(napi_async_cleanup_hook_handle hook, void* data) {
  const std::unique_ptr<Teardown> teardown(static_cast<Teardown*>(data));
  const std::shared_ptr<void> done(
      hook, [](void* held) { napi_remove_async_cleanup_hook(static_cast<napi_async_cleanup_hook_handle>(held)); });
  const std::set<Endpoint*> endpoints = teardown->environment->endpoints;
  for (Endpoint* endpoint : endpoints) endpoint->destroy(done);
}

}  // namespace

void Environment::create(Napi::Env env) {
  auto environment = std::make_shared<Environment>();
  environment->env = env;
  if (napi_get_uv_event_loop(env, &environment->loop) != napi_ok) throw Napi::Error::New(env);
  auto teardown = std::make_unique<Teardown>();
  teardown->environment = environment;
  Teardown* data = teardown.get();
  if (napi_add_async_cleanup_hook(env, close_endpoints, data, &data->hook) != napi_ok) throw Napi::Error::New(env);
  (void)teardown.release();  // close_endpoints takes it back
  auto* instance = new std::shared_ptr<Environment>(environment);
  const napi_status status = napi_set_instance_data(
      env, instance,
      [](node_api_basic_env, void* held, void*) { delete static_cast<std::shared_ptr<Environment>*>(held); }, nullptr);
  if (status == napi_ok) return;
  delete instance;
  throw Napi::Error::New(env);
}

const std::shared_ptr<Environment>& Environment::of(napi_env env) {
  void* held = nullptr;
  napi_get_instance_data(env, &held);
  return *static_cast<std::shared_ptr<Environment>*>(held);
}

}  // namespace verbs::doca_comm
