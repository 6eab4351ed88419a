#include "binding/lifetime/environment.h"

namespace verbs::core {
namespace {

// An environment lives on one thread.
thread_local std::weak_ptr<Environment> current;

}  // namespace

std::shared_ptr<Environment> Environment::create(napi_env env) {
  auto environment = provider::create_environment<Environment>(env);
  current = environment;
  return environment;
}

std::shared_ptr<Environment> Environment::of_thread() { return current.lock(); }

const std::shared_ptr<Environment>& Environment::of(napi_env env) { return provider::environment_of<Environment>(env); }

}  // namespace verbs::core
